// Runs tests of Node's runner and of the browser, reruns failed files once in CI, and sums up the results.
import { NO_FILE, runBrowserTests } from './browser-tests.ts'
import { runNodeTests } from './node-tests.ts'
import type { Counts, FileRan } from './ran.ts'

/** `isBuried`: other output follows the failures. `flaky`: files that failed, but passed when they ran alone. */
export type Outcome = Counts & { failures: string[]; isBuried: boolean; flaky: string[] }

/** If more files fail, it is not chance, and none is run again. */
const MOST_RUN_AGAIN = 5

/** Runs `files` and the specs `browserFiles` of the project in `root`, each for `limit_ms` at most. With CI=true a file that failed is run once more. */
export async function runTests(
  files: readonly string[],
  browserFiles: readonly string[],
  root: string,
  limit_ms: number,
): Promise<Outcome> {
  // Concurrently, because both mostly wait; the output of the browser's tests is printed after the others.
  const inBrowser = runBrowserTests(browserFiles, root)
  const plain = await runNodeTests(files, root, limit_ms)
  const browser = await inBrowser
  process.stdout.write(browser.said)
  const first = [...plain, ...browser.ran]
  const again = await runFailedAgain(first, file =>
    browserFiles.includes(file) ? runSpecAlone(file, root) : runFileAlone(file, root, limit_ms),
  )
  const ran = first.map(one => again.get(one.file) ?? one)
  const isBuried = browser.said !== '' || again.size > 0
  return { ...sum(ran), failures: ran.flatMap(one => one.failures), isBuried, flaky: [...again.keys()] }
}

/** In CI, runs each failed file again alone. Returns the files that passed; the others keep their first result. */
async function runFailedAgain(
  first: readonly FileRan[],
  runAlone: (file: string) => Promise<FileRan | undefined>,
): Promise<Map<string, FileRan>> {
  const passed = new Map<string, FileRan>()
  const failed = first.filter(one => one.failed > 0 && one.file !== NO_FILE)
  if (process.env['CI'] !== 'true' || failed.length > MOST_RUN_AGAIN) return passed
  for (const { file } of failed) {
    console.log(`\n${file} failed; running it once more, alone:`)
    const again = await runAlone(file)
    if (again !== undefined && again.failed === 0 && again.passed > 0) passed.set(file, again)
  }
  return passed
}

async function runFileAlone(file: string, root: string, limit_ms: number): Promise<FileRan | undefined> {
  const [ran] = await runNodeTests([file], root, limit_ms)
  return ran
}

async function runSpecAlone(file: string, root: string): Promise<FileRan | undefined> {
  const { ran, said } = await runBrowserTests([file], root)
  process.stdout.write(said)
  return ran.length === 1 ? ran[0] : undefined
}

function sum(ran: readonly FileRan[]): Counts {
  const total = { passed: 0, failed: 0, skipped: 0 }
  for (const { passed, failed, skipped } of ran) {
    total.passed += passed
    total.failed += failed
    total.skipped += skipped
  }
  return total
}
