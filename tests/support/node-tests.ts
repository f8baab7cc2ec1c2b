// Runs test files of Node's own runner, each in a process of its own, and counts what they did.
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { inspect } from 'node:util'

/** How many tests did what. */
export type Counts = { passed: number; failed: number; skipped: number }

/** The failed ones also with their places and errors: what one looks for at the end of a long output. */
export type Ran = Counts & { failures: string[] }

/** Most of a test's time is waiting: for commits, for leases, for a process to start. */
const FILES_AT_ONCE = 2 * availableParallelism()

/** Runs `files`, some at a time, and prints what they say. A file that has not ended after `limit_ms` has failed, as has one left open. */
export async function runNodeTests(files: string[], cwd: string, limit_ms: number): Promise<Ran> {
  const counts: Ran = { passed: 0, failed: 0, skipped: 0, failures: [] }
  if (files.length === 0) return counts
  const events = run({
    cwd,
    files,
    concurrency: FILES_AT_ONCE,
    timeout: limit_ms,
    execArgv: ['--import', join(import.meta.dirname, 'left-open.ts')],
  })
  events.on('test:fail', ({ name, file, line, details: { error } }) => {
    // What holds a failed test has failed for no reason of its own.
    if (!('failureType' in error) || error.failureType !== 'subtestsFailed')
      counts.failures.push(`✖ ${relative(cwd, file ?? cwd)}:${line ?? 0} ${name}\n${inspect(error.cause ?? error)}`)
  })
  events.on('test:summary', ({ file, counts: summed }) => {
    if (file !== undefined) return
    counts.passed = summed.passed
    counts.failed = summed.tests - summed.passed - summed.skipped - summed.todo
    counts.skipped = summed.skipped + summed.todo
  })
  for await (const text of events.compose(new spec())) process.stdout.write(text)
  return counts
}
