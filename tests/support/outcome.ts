// Runs tests of Node's runner and of the browser, gives failed files their second chance in CI, and sums up what they did.
import { NO_FILE, runBrowserTests } from './browser-tests.ts'
import { runNodeTests } from './node-tests.ts'
import type { Counts, FileRan } from './ran.ts'

/** `isBuried`: other output follows what was said of the failures. `flaky`: files that failed, and passed when they were run alone. */
export type Outcome = Counts & { failures: string[]; isBuried: boolean; flaky: string[] }

/** When more files fail than this, it was no accident. */
const MOST_RUN_AGAIN = 5

/** Runs `files` and the specs `browserFiles` of the project in `root`, each for `limit_ms` at most. With CI=true a file that failed is run once more. */
export async function runTests(
  files: readonly string[],
  browserFiles: readonly string[],
  root: string,
  limit_ms: number,
): Promise<Outcome> {
  // Side by side, because both mostly wait; what the browser's say comes in one piece behind the others.
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

/** In CI, runs each failed file again with nothing beside it. Answers those that passed; the others count as they did at first. */
async function runFailedAgain(
  first: readonly FileRan[],
  runAlone: (file: string) => Promise<FileRan | undefined>,
): Promise<Map<string, FileRan>> {
  const passed = new Map<string, FileRan>()
  const failed = first.filter(one => one.failed > 0 && one.file !== NO_FILE)
  if (process.env['CI'] !== 'true' || failed.length > MOST_RUN_AGAIN) return passed
  for (const { file } of failed) {
    console.log(`\n${file} failed and is run once more, alone:`)
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
