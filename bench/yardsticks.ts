// The yardsticks: fixed pieces of work without any part of Sluice. They show how fast the machine is at the moment.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { createCluster, prepareFolder } from '../src/ground/db/cluster.ts'
import { chooseOwner, findPrograms, type Owner } from '../src/ground/db/programs.ts'
import { median } from './ratio.ts'

export type YardstickName = 'work' | 'scan' | 'bare start' | 'bare first start'

const WORK = Buffer.alloc(4 * 2 ** 20, 7)
const WORDS = Array.from({ length: 8000 }, (_, at) => ({ at, word: `word ${(at * 7919) % 8000}` }))

/** Processor work of this process, the median of three: a hash of 4 MB, JSON there and back, and a sort. Returns milliseconds. */
export const work = (): number => median([workOnce(), workOnce(), workOnce()])

function workOnce(): number {
  const started = performance.now()
  const digest = createHash('sha256').update(WORK).digest('hex')
  const words = JSON.parse(JSON.stringify(WORDS)) as typeof WORDS
  const sorted = words.toSorted((one, other) => (one.word < other.word ? -1 : 1))
  if (digest.length !== 64 || sorted.length !== WORDS.length) throw new Error('the work of the yardstick is wrong')
  return performance.now() - started
}

export const workText = (took: readonly number[]): string =>
  `${median(took).toFixed(1)} ms for the fixed piece of processor work`

const SCANNED_ROWS = 300_000
const SCAN = 'select key, count(*), sum(value), max(word) from bench_scan group by key order by 2 desc, 1'

export const scanText = (took: readonly number[]): string =>
  `${median(took).toFixed(1)} ms for grouping ${SCANNED_ROWS.toLocaleString('en-US')} rows in plain SQL`

export type Scan = { scan: () => Promise<number>; close(): Promise<void> }

/** A grouping of 300,000 rows in plain SQL, on one processor. `scan` returns milliseconds. */
export async function openScan(connection: pg.ClientConfig): Promise<Scan> {
  const client = new pg.Client({ ...connection, application_name: 'bench scan' })
  await client.connect()
  await client.query('set max_parallel_workers_per_gather = 0')
  await client.query(`create table if not exists bench_scan as
    select n % 1000 as key, n as value, 'word ' || n % 5000 as word from generate_series(1, ${SCANNED_ROWS}) n`)
  await client.query('analyze bench_scan')
  const scan = async () => {
    const started = performance.now()
    await client.query(SCAN)
    return performance.now() - started
  }
  await scan()
  return { scan, close: () => client.end() }
}

/**
 * The milliseconds until a new Node has answered a request and a PostgreSQL a query, both started at once: on an empty folder, with initdb, and then
 * on the same folder again.
 */
export async function bareStarts(): Promise<{ first: number; later: number }> {
  const dataDir = mkdtempSync(join(tmpdir(), `sluice-bench-${process.pid}-bare-`))
  const root = join(dataDir, 'postgres')
  try {
    const started = performance.now()
    prepareFolder(dataDir, root)
    const owner = chooseOwner(root)
    const { bin } = findPrograms(owner)
    await createCluster(root, owner, { bin, major: '' })
    const created = performance.now() - started
    const first = created + (await startBoth(root, owner, bin))
    return { first, later: await startBoth(root, owner, bin) }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function startBoth(root: string, owner: Owner, bin: string): Promise<number> {
  const started = performance.now()
  const [, stop] = await Promise.all([startNode(), startPostgres(root, owner, bin)])
  const took = performance.now() - started
  await stop()
  return took
}

const NODE = `const server = require('node:http').createServer((_, answer) => answer.end('OK')).listen(0, '127.0.0.1', () =>
  fetch('http://127.0.0.1:' + server.address().port).then(answer => answer.text()).then(() => process.exit()))`

async function startNode(): Promise<void> {
  const child = spawn(process.execPath, ['-e', NODE], { stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the bare Node ended with ${code}`)
}

/** Returns the function that stops it. */
async function startPostgres(root: string, owner: Owner, bin: string): Promise<() => Promise<void>> {
  const child = spawn(join(bin, 'postgres'), ['-D', '/proc/self/cwd', '-k', '.', '-c', 'listen_addresses='], {
    ...owner,
    cwd: root,
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  while (!(await answers(root))) {
    if (child.exitCode !== null) throw new Error(`the bare PostgreSQL ended with ${child.exitCode}`)
    await sleep(5)
  }
  return async () => {
    child.kill('SIGINT')
    await ended
  }
}

async function answers(root: string): Promise<boolean> {
  const client = new pg.Client({ host: root, port: 5432, user: 'sluice', database: 'postgres' })
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
