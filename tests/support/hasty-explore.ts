// Preloaded by `node --import`: lets the rounds of Explore go round as fast as SLUICE_TEST_ROUNDS says ("seal=100 merge=300", milliseconds), as a
// long time would. Nothing else of the process is changed.
import { registerHooks } from 'node:module'

const rounds = new Map(
  (process.env['SLUICE_TEST_ROUNDS'] ?? '').split(' ').map(one => one.split('=') as [room: string, ms: string]),
)

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const room = /\/reading\/segments\/(\w+)\.ts$/.exec(url)?.[1]
    const pause_ms = room === undefined ? undefined : rounds.get(room)
    if (pause_ms === undefined || loaded.source == null) return loaded
    const source =
      typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString()
    const hasty = source.replace(/^const PAUSE_MS = [\d_]+$/m, `const PAUSE_MS = ${pause_ms}`)
    if (hasty === source) throw new Error(`${url} has no PAUSE_MS to be changed`)
    return { ...loaded, source: hasty }
  },
})
