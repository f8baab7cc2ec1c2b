// The time from `npm start` to the first answer, with the embedded PostgreSQL: on a folder with data, and on an empty one.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { START_FLAGS } from '../scripts/start-flags.ts'
import { buildDashboard, bundleServer } from '../src/builds.ts'
import { ms } from './clicks.ts'
import type { Plan } from './plan.ts'
import { median, ratiosOf } from './ratio.ts'
import { type Finding, findingOf } from './rows.ts'
import { bareStarts } from './yardsticks.ts'

const MAIN = join(import.meta.dirname, '../src/main.ts')
const PATIENCE_MS = 180_000

/** `dataDir` is the bench's folder, with PostgreSQL stopped. The dashboard and the bundled server are built before, as after every start but the first. */
export async function measureStarts(dataDir: string, { starts }: Plan): Promise<Finding[]> {
  const took = { first: [] as number[], later: [] as number[] }
  const bare = { first: [] as number[], later: [] as number[] }
  const log = pino({ level: 'warn' }, pino.destination(2))
  await Promise.all([buildDashboard(log), bundleServer(log)])
  for (let round = 0; round < starts; round += 1) {
    const reference = await bareStarts()
    bare.first.push(reference.first)
    bare.later.push(reference.later)
    took.first.push(await onEmptyFolder(startOnce))
    took.later.push(await startOnce(dataDir))
  }
  const all = (times: number[]) => `until /readyz answers 200: ${times.map(ms).join(', ')}`
  return [
    findingOf('start_ms', median(took.later), ratiosOf(took.later, bare.later), bareText(bare.later), [
      `on the data of this bench, ${all(took.later)}`,
    ]),
    findingOf('first_start_ms', median(took.first), ratiosOf(took.first, bare.first), bareText(bare.first), [
      `from nothing, with initdb and migrations, ${all(took.first)}`,
    ]),
  ]
}

const bareText = (took: readonly number[]): string =>
  `${median(took).toFixed(0)} ms for a bare Node and PostgreSQL, started at once`

async function onEmptyFolder(measure: (dataDir: string) => Promise<number>): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), `sluice-bench-${process.pid}-first-`))
  try {
    return await measure(dataDir)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function startOnce(dataDir: string): Promise<number> {
  const port = await freePort()
  const { PATH = '' } = process.env
  const started = performance.now()
  const child = spawn(process.execPath, [...START_FLAGS, MAIN], {
    env: { PATH, DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const said = text(child.stderr)
  const closed = once(child, 'close')
  try {
    while (!(await isReady(port))) {
      if (child.exitCode !== null) throw new Error(`Sluice did not start: ${await said}`)
      if (performance.now() - started > PATIENCE_MS) throw new Error('Sluice did not get ready')
      await sleep(5)
    }
    return performance.now() - started
  } finally {
    end(child)
    await closed
  }
}

const end = (child: ChildProcess): void => void (child.exitCode === null && child.kill('SIGTERM'))

async function isReady(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(1000) })
    await answer.body?.cancel()
    return answer.status === 200
  } catch {
    return false
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
