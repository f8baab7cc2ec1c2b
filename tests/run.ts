// `npm test [part of a path…] [--all]`: every test on a real PostgreSQL, then the dashboard in a real browser. The last line
// has the numbers of passed and failed tests. `--all` adds the long suites (SLUICE_TEST_ALL=1). `--faults` runs the fault tests
// longer (SLUICE_FAULT_SECONDS each); `--seeded` checks that each seeded fault makes a test fail, `--soak` that two hours
// (SLUICE_SOAK_MINUTES) of traffic leave no traces. `--citus address,address,… [part of a path…]`: every test that works on a cluster, on the
// cluster of these addresses, and the faults of its nodes.
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { buildDashboard, bundleServer } from '../src/builds.ts'
import { CLUSTER, connectionTo, reach, startKeeper } from './support/database.ts'
import { NODES } from './support/sharded.ts'
import { findProgram, requirePrograms, wantPrograms } from './support/programs.ts'
import { type Outcome, runTests } from './support/outcome.ts'
import { COSTS, processorMs, readCosts } from './support/processor-time.ts'
import { ensureTemplate } from './support/template.ts'

const ROOT = join(import.meta.dirname, '..')
/** For a file that hangs; others take a tenth of it even on a busy machine. */
const SHORT_LIMIT = 15 * 60_000
const LONG_LIMIT = 60 * 60_000
/** In addition to the traffic: to start, to empty the outbox and for the audit. */
const SOAK_SPARE = 60 * 60_000

const FLAGS = ['--all', '--faults', '--seeded', '--soak', '--citus']
const flags = process.argv.slice(2).filter(argument => argument.startsWith('-'))
const unknown = flags.find(flag => !FLAGS.includes(flag))
if (unknown !== undefined) {
  console.error(`${unknown} is unknown. Usage: npm test -- [part of a path…] [${FLAGS.join(' | ')}]`)
  process.exit(1)
}
const isAddress = (argument: string) => /^postgres(ql)?:\/\//.test(argument)
const filters = process.argv.slice(2).filter(argument => !argument.startsWith('-') && !isAddress(argument))
const cluster = process.argv.slice(2).find(isAddress)
const all = flags.includes('--all')
const seeded = flags.includes('--seeded')
const soak = flags.includes('--soak')
const faults = flags.includes('--faults')
const citus = flags.includes('--citus')
const FAULT_SECONDS = '30'
const COSTLIEST = 10
const SHARED_MEMORY = '/dev/shm'
/** Many times what a run needs, so that the tests have enough memory. */
const MEMORY_NEEDED = 6 * 2 ** 30
const SOAK_MINUTES = process.env['SLUICE_SOAK_MINUTES'] ?? '120'
/** Tests that kill, freeze and cut; fault tests of the rooms have their own short leases and pauses. */
const FAULT_FILES = [
  'tests/faults/*.test.ts',
  'src/intake/{clicks/outage,events/away}.test.ts',
  'src/outgoing/deliveries/{faults,breaker,claim}.test.ts',
  'src/gate/{once,quota}.test.ts',
]

const CITUS_FILES = [
  'src/**/*.test.ts',
  'tests/{campaign-domain,cluster/*,conversion,figures-doors,history-of-writes,key-writes,list-files,receipts,rights,scope,warnings}.test.ts',
]
/** Tests of one server's files, processes, catalog, plans and statistics, or of old databases; and of the dashboard, which needs no database. */
const NOT_ON_A_CLUSTER = [
  // A cluster refuses backups: tests/cluster/backup.test.ts.
  'src/backup/',
  'src/web/',
  'src/ground/db/connect.test.ts',
  'src/ground/db/embedded',
  'src/ground/db/flight.test.ts',
  'src/ground/db/migrate.test.ts',
  'src/ground/db/prepared.test.ts',
  'src/ground/db/tables.test.ts',
  'src/intake/counters/before-sheets.test.ts',
  'src/intake/events/plans.test.ts',
  'src/outgoing/deliveries/faults.test.ts',
  'src/outgoing/deliveries/plans.test.ts',
  'src/people/organizations/before-links.test.ts',
  'src/traffic/campaigns/moved.test.ts',
]

const select = (...patterns: string[]): string[] =>
  globSync(patterns, { cwd: ROOT })
    .filter(file => filters.length === 0 || filters.some(filter => file.includes(filter.replace(/^\.\//, ''))))
    .sort()

function limitOfFile(): number {
  if (soak) return Number(SOAK_MINUTES) * 60_000 + SOAK_SPARE
  return all || faults || seeded ? LONG_LIMIT : SHORT_LIMIT
}

function selectTests(): string[] {
  if (soak) return select('tests/faults/soak.test.ts')
  if (seeded) return select('tests/faults/seeded.test.ts')
  if (faults) return select(...FAULT_FILES)
  if (citus) return select(...CITUS_FILES).filter(file => !NOT_ON_A_CLUSTER.some(part => file.startsWith(part)))
  // The files that start whole processes take longest, so they begin first.
  return [...select('tests/**/*.test.ts'), ...select('bench/*.test.ts', 'demo/*.test.ts', 'src/**/*.test.ts')]
}

function usage(): never {
  throw new Error('npm run test:citus -- postgres://user@coordinator/postgres,postgres://user@worker/postgres,…')
}

/**
 * The folder for the files of the run's server: in memory if there is enough. A database has eight hundred files; creating them takes
 * half a second of processor time on a busy disk, and a fiftieth of that in memory.
 */
function placeOfRun(): string {
  if (!existsSync(SHARED_MEMORY) || freemem() < MEMORY_NEEDED) return tmpdir()
  const { bavail, bsize } = statfsSync(SHARED_MEMORY)
  return bavail * bsize < MEMORY_NEEDED ? tmpdir() : SHARED_MEMORY
}

/** The headless shell takes two thirds of the processor time of the whole browser. */
function requireBrowser(): void {
  wantPrograms(['chromium-headless-shell'])
  if (findProgram('chromium-headless-shell') === undefined) requirePrograms(['chromium'])
}

async function main(): Promise<Outcome & { costs: Map<string, number> }> {
  const files = selectTests()
  const browserFiles = faults || seeded || soak || citus ? [] : select('tests/browser/*.spec.ts')
  requirePrograms(['redis-server'])
  if (browserFiles.length > 0) requireBrowser()
  if (files.some(file => file.includes('pebble'))) wantPrograms(['pebble'])
  const folder = mkdtempSync(join(placeOfRun(), 'sluice-run-'))
  const keeper = startKeeper(folder, '--remove')
  keeper.ref()
  const ended = once(keeper, 'exit')
  const stop = () => keeper.kill('SIGTERM')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop() && process.exit(1))
  // Kept for the whole run, because a server without connections ends itself.
  const client = await reach(folder, () => keeper)
  try {
    // Once, so that a dozen processes do not each build them.
    const log = pino({ level: 'warn' })
    if (browserFiles.length > 0) await buildDashboard(log)
    if (browserFiles.length > 0 || files.some(file => !file.startsWith('src/'))) await bundleServer(log)
    await ensureTemplate(client, connectionTo(folder))
    process.env[CLUSTER] = folder
    process.env[COSTS] = join(folder, 'costs')
    process.env['NODE_COMPILE_CACHE'] ??= join(ROOT, 'node_modules/.cache/node-compile')
    if (all) process.env['SLUICE_TEST_ALL'] = '1'
    if (all || faults || filters.length > 0) process.env['SLUICE_DETAILS'] = '1'
    if (seeded) process.env['SLUICE_SEEDED'] = '1'
    if (citus) process.env[NODES] = cluster ?? usage()
    if (soak) process.env['SLUICE_SOAK_MINUTES'] = SOAK_MINUTES
    if (all || faults) process.env['SLUICE_FAULT_SECONDS'] ??= FAULT_SECONDS
    const outcome = await runTests(files, browserFiles, ROOT, limitOfFile())
    return { ...outcome, costs: readCosts(join(folder, 'costs')) }
  } finally {
    await client.end()
    stop()
    await ended
  }
}

/** Prints the files that took the most processor time, and the total of the run, including the ended test server and the browser. */
function tellCosts(costs: Map<string, number>): void {
  const most = [...costs].toSorted(([, one_ms], [, other_ms]) => other_ms - one_ms).slice(0, COSTLIEST)
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  console.log('\nMost processor time (PostgreSQL not counted):')
  for (const [file, cost_ms] of most) console.log(`${seconds(cost_ms).padStart(8)} s  ${file}`)
  console.log(`${seconds(processorMs()).padStart(8)} s  in all, with PostgreSQL and the browser`)
}

const { passed, failed, skipped, failures, isBuried, flaky, costs } = await main()
if (costs.size > 1) tellCosts(costs)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
for (const failure of isBuried ? failures : []) console.log(failure)
for (const file of flaky) console.log(`flaky: ${file} failed, and passed when it was run alone`)
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
