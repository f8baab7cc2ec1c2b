// Runs test files of Node's own runner, each in a process of its own, and counts what they did.
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { inspect } from 'node:util'
import type { FileRan } from './ran.ts'

/** Most of a test's time is waiting: for commits, for leases, for a process to start. */
const FILES_AT_ONCE = 2 * availableParallelism()

/** Of the whole run of a file, which the runner says in lines of its own. */
const TOTALS = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

type TestEvent = { type: string; data: { nesting?: number; message?: string } }

const isTotal = ({ type, data }: TestEvent) =>
  type === 'test:diagnostic' && data.nesting === 0 && TOTALS.test(data.message ?? '')

/** Runs `files`, some at a time, and prints what they say. A file that has not ended after `limit_ms` has failed, as has one left open. */
export async function runNodeTests(files: readonly string[], cwd: string, limit_ms: number): Promise<FileRan[]> {
  if (files.length === 0) return []
  const reporter = new spec()
  reporter.pipe(process.stdout, { end: false })
  const waiting = files.values()
  const ran: FileRan[] = []
  const lane = async () => {
    for (const file of waiting) {
      const { said, ...counted } = await runFile(file, cwd, limit_ms)
      ran.push(counted)
      for (const event of said) reporter.write(event)
    }
  }
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, lane))
  reporter.end()
  await finished(reporter)
  return ran
}

/** What the tests of one file did, and the events of its run for the reporter. */
async function runFile(file: string, cwd: string, limit_ms: number): Promise<FileRan & { said: TestEvent[] }> {
  const ran = { file, passed: 0, failed: 0, skipped: 0, failures: [] as string[], said: [] as TestEvent[] }
  const events = run({
    cwd,
    files: [file],
    timeout: limit_ms,
    execArgv: ['--import', join(import.meta.dirname, 'left-open.ts')],
  })
  events.on('test:fail', ({ name, file: at, line, details: { error } }) => {
    // What holds a failed test has failed for no reason of its own.
    if (!('failureType' in error) || error.failureType !== 'subtestsFailed')
      ran.failures.push(`✖ ${relative(cwd, at ?? cwd)}:${line ?? 0} ${name}\n${inspect(error.cause ?? error)}`)
  })
  events.on('test:summary', ({ file: part, counts }) => {
    if (part !== undefined) return
    ran.passed = counts.passed
    ran.failed = counts.tests - counts.passed - counts.skipped - counts.todo
    ran.skipped = counts.skipped + counts.todo
  })
  for await (const event of events) if (!isTotal(event as TestEvent)) ran.said.push(event as TestEvent)
  return ran
}
