// Decides which test files share a process.

/** The most files per process. If a process fails, all its files run again, and the run waits for its last process, so groups stay small. */
const MOST_FILES = 16

/** Files of a wing that still get a process of their own. */
const APART: Readonly<Record<string, string>> = {
  'tests/hosts.test.ts': 'it runs the programs of AI hosts for a long time',
  'tests/pebble.test.ts': 'it waits for certificates for a long time',
  'tests/run.test.ts': 'it runs the runner itself',
  'tests/start.test.ts': 'it starts Sluice and its database again and again for a long time',
}

/**
 * Groups the files by process, in their order: files of one wing of `src` share processes, and so do those directly in `tests`. Files of other
 * folders start whole processes and load little themselves, so each gets its own.
 */
export function batchesOf(files: readonly string[]): string[][] {
  const batches: string[][] = []
  const filling = new Map<string, string[]>()
  for (const file of files) {
    const wing = file in APART ? undefined : wingOf(file)
    const batch = wing === undefined ? undefined : filling.get(wing)
    if (batch !== undefined && batch.length < MOST_FILES) batch.push(file)
    else {
      const next = [file]
      batches.push(next)
      if (wing !== undefined) filling.set(wing, next)
    }
  }
  return batches
}

function wingOf(file: string): string | undefined {
  const [top, second = '', ...deeper] = file.split('/')
  if (top === 'src' && deeper.length > 0) return second
  return top === 'src' || (top === 'tests' && deeper.length === 0) ? top : undefined
}
