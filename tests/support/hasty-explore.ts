// Preloaded by `node --import`: runs the periodic jobs of Explore with the pauses of SLUICE_TEST_ROUNDS ("seal=100 merge=300", milliseconds), and gives
// scans more time and normal priority, because the machine is busy with other tests. It changes nothing else of the process.
import { registerHooks } from 'node:module'

const rounds = new Map(
  (process.env['SLUICE_TEST_ROUNDS'] ?? '').split(' ').map(one => one.split('=') as [room: string, ms: string]),
)

/** The replacement for a file's source. */
function changed(url: string): readonly [from: RegExp, to: string] | undefined {
  // From the sources, because the bundle has no separate files.
  if (url.endsWith('/src/server-bundle.ts')) return [/isServerBundled\(\) \? START : /, '']
  if (url.endsWith('/reading/explore/explorer.ts')) return [/question_ms: 10_000/, 'question_ms: 300_000']
  if (url.endsWith('/ground/db/connect.ts')) return [/isBehind = true/, 'isBehind = false']
  const pause_ms = rounds.get(/\/reading\/segments\/(\w+)\.ts$/.exec(url)?.[1] ?? '')
  return pause_ms === undefined ? undefined : [/^const PAUSE_MS = [\d_]+$/m, `const PAUSE_MS = ${pause_ms}`]
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const change = changed(url)
    if (change === undefined || loaded.source == null) return loaded
    const source =
      typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString()
    const hasty = source.replace(...change)
    if (hasty === source) throw new Error(`${url} does not have ${change[0]}`)
    return { ...loaded, source: hasty }
  },
})
