// Runs test files with Node's own runner, most of them several to a process, and counts the results.
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { inspect } from 'node:util'
import type { FileRan } from './ran.ts'
import { batchesOf } from './batches.ts'

/** Most of a test's time is waiting: for commits, for leases, for a process to start. */
const FILES_AT_ONCE = 2 * availableParallelism()
/** Files that run after all others, one after another: who is answered while a node is away, and what a million rows take, depend on how busy the machine is. */
const isAlone = (file: string) => file.startsWith('tests/cluster/') || file === 'tests/faults/broadcast-scale.test.ts'
const SHARED = join(import.meta.dirname, 'shared-process.ts')
/** In this order: `quick-passwords.ts` would otherwise publish what `followed.ts` replaced. */
const PRELOADED = ['quick-passwords.ts', 'followed.ts', 'left-open.ts'].flatMap(file => [
  '--import',
  join(import.meta.dirname, file),
])
/** Tests with @detail in their title run if their file is named, and in `npm run test:all`. */
const flags = () => (process.env['SLUICE_DETAILS'] === '1' ? PRELOADED : [...PRELOADED, '--test-skip-pattern=@detail'])

/** The runner's totals of a whole process, which are not printed. */
const TOTALS = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

type TestError = Error & { failureType?: string; cause?: unknown }
type Ended = {
  type: 'test:pass' | 'test:fail'
  data: {
    name: string
    nesting: number
    file?: string
    line?: number
    skip?: unknown
    todo?: unknown
    details: { type?: string; error?: TestError }
  }
}
type TestEvent = Ended | { type: string; data: { nesting?: number; message?: string } }
type ProcessRan = { ran: FileRan[]; said: TestEvent[] }

const isTotal = ({ type, data }: TestEvent) =>
  type === 'test:diagnostic' && data.nesting === 0 && 'message' in data && TOTALS.test(data.message ?? '')
const isEnd = (event: TestEvent): event is Ended => event.type === 'test:pass' || event.type === 'test:fail'
const nothing = (file: string): FileRan => ({ file, passed: 0, failed: 0, skipped: 0, failures: [] })

/**
 * Runs `files`, some at a time, and prints their output. A file that has not ended after `limit_ms` fails, as does one left open. If a
 * shared process ends with an error outside of any test, each of its files is run alone, to find the file.
 */
export async function runNodeTests(files: readonly string[], cwd: string, limit_ms: number): Promise<FileRan[]> {
  if (files.length === 0) return []
  const reporter = new spec()
  reporter.pipe(process.stdout, { end: false })
  const waiting = batchesOf(files.filter(file => !isAlone(file))).values()
  const all: FileRan[] = []
  const lane = async (batches: Iterable<string[]>) => {
    for (const batch of batches) {
      const shared = batch.length > 1 ? await runShared(batch, cwd, batch.length * limit_ms) : undefined
      const processes: ProcessRan[] = shared === undefined ? [] : [shared]
      if (shared === undefined) for (const file of batch) processes.push(await runAlone(file, cwd, limit_ms))
      for (const { ran, said } of processes) {
        all.push(...ran)
        for (const event of said) reporter.write(event)
      }
    }
  }
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, () => lane(waiting)))
  await lane(files.filter(isAlone).map(file => [file]))
  reporter.end()
  await finished(reporter)
  return all
}

/** The results of one file in its own process, and the events for the reporter. */
async function runAlone(file: string, cwd: string, timeout: number): Promise<ProcessRan> {
  const ran = nothing(file)
  const said: TestEvent[] = []
  for await (const event of run({ cwd, files: [file], timeout, execArgv: flags() })) {
    if (isEnd(event as TestEvent)) count(event as Ended, ran, cwd)
    if (!isTotal(event as TestEvent)) said.push(event as TestEvent)
  }
  return { ran: [ran], said }
}

/** The results of several files in one process; undefined if the process ended with an error outside of any test. */
async function runShared(files: readonly string[], cwd: string, timeout: number): Promise<ProcessRan | undefined> {
  const ran: FileRan[] = []
  const said: TestEvent[] = []
  let current = nothing('')
  for await (const event of run({
    cwd,
    files: [SHARED],
    argv: [...files],
    timeout,
    execArgv: flags(),
  })) {
    if (!isTotal(event as TestEvent)) said.push(event as TestEvent)
    if (!isEnd(event as TestEvent)) continue
    const { data } = event as Ended
    const isFile = data.nesting === 0
    if (isFile && !files.includes(data.name)) return undefined
    count(event as Ended, current, cwd)
    if (!isFile) continue
    ran.push({ ...current, file: data.name })
    current = nothing('')
  }
  return ran.length === files.length ? { ran, said } : undefined
}

/** Adds the end of a test or suite to the results of its file. A suite that only contains a failed test is not counted as failed. */
function count({ type, data }: Ended, ran: FileRan, cwd: string): void {
  const { error, type: kind } = data.details
  const isSuite = kind === 'suite'
  const hasOwnReason = error !== undefined && error.failureType !== 'subtestsFailed'
  if (type === 'test:fail' && hasOwnReason)
    ran.failures.push(
      `✖ ${relative(cwd, data.file ?? cwd)}:${data.line ?? 0} ${data.name}\n${inspect(error.cause ?? error)}`,
    )
  if (type === 'test:fail') ran.failed += isSuite && !hasOwnReason ? 0 : 1
  else if (isSuite) return
  else if (data.skip !== undefined || data.todo !== undefined) ran.skipped++
  else ran.passed++
}
