/**
 * Loaded into every test file before it runs. A file ends by itself, as soon as it has closed all it opened; one that keeps something
 * open is ended here and has failed. Node's --test-force-exit does not do: it exits while the last results are still on their way to
 * the runner, and tests go missing (https://github.com/nodejs/node/issues/64833).
 */
import { relative } from 'node:path'
import { after } from 'node:test'
import { noteCost, processorMs } from './processor-time.ts'

/** From the start of the file's own clean-up, which may take long on a machine with ten other things to do. */
const PATIENCE_MS = Number(process.env['SLUICE_LEFT_OPEN_MS'] ?? 120_000)

function endWhatStays(): void {
  const open = new Set(process.getActiveResourcesInfo())
  process.stderr.write(`Ended, because it kept something open: ${[...open].join(', ')}\n`)
  // Once this is written, so are all results before it.
  process.stdout.write('', () => process.exit(1))
}

/** Gives this process, whose tests have all ended, as long as it may take to end. */
export const limitEnd = (): void => void setTimeout(endWhatStays, PATIENCE_MS).unref()

// What a test forks with the flags of its own process is no test file.
const [, main = ''] = process.argv
if (main.endsWith('.test.ts')) {
  after(limitEnd)
  process.on('exit', () => noteCost(relative(process.cwd(), main), processorMs()))
}
