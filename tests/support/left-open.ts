/**
 * Loaded into every test file before it runs. A file ends when it has closed everything it opened; a file that leaves something
 * open is ended here and fails. Node's --test-force-exit cannot be used: it exits before the last results reach the runner, so that
 * tests go missing (https://github.com/nodejs/node/issues/64833).
 */
import { relative } from 'node:path'
import { after } from 'node:test'
import { noteCost, processorMs } from './processor-time.ts'

/** Counted from the start of the file's own clean-up, which may take long on a busy machine. */
const PATIENCE_MS = Number(process.env['SLUICE_LEFT_OPEN_MS'] ?? 120_000)

function endWhatStays(): void {
  const open = new Set(process.getActiveResourcesInfo())
  process.stderr.write(`Ended, because it kept something open: ${[...open].join(', ')}\n`)
  // Once this is written, all earlier results are written too.
  process.stdout.write('', () => process.exit(1))
}

/** Limits the time that this process may take to end after its tests. */
export const limitEnd = (): void => void setTimeout(endWhatStays, PATIENCE_MS).unref()

// A process that a test forks inherits these flags, but is not a test file.
const [, main = ''] = process.argv
if (main.endsWith('.test.ts')) {
  after(limitEnd)
  process.on('exit', () => noteCost(relative(process.cwd(), main), processorMs()))
}
