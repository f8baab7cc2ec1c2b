// Runs the dashboard's tests with Playwright and counts the results.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import * as z from 'zod'
import type { FileRan } from './ran.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The name under which a failure outside of all tests is counted. */
export const NO_FILE = 'playwright'

const Spec = z.object({ tests: z.array(z.object({ status: z.enum(['expected', 'unexpected', 'flaky', 'skipped']) })) })
const Suite = z.object({
  file: z.string(),
  specs: z.array(Spec),
  get suites() {
    return z.array(Suite).optional()
  },
})
const Report = z.object({ suites: z.array(Suite) })

/** The results by file, and the whole output, to be printed after other tests. */
export type BrowserRan = { ran: FileRan[]; said: string }

const statusesOf = ({ specs, suites = [] }: z.infer<typeof Suite>): string[] => [
  ...specs.flatMap(({ tests }) => tests.map(({ status }) => status)),
  ...suites.flatMap(statusesOf),
]

function countSuite(file: string, suite: z.infer<typeof Suite>): FileRan {
  const statuses = statusesOf(suite)
  const count = (...of: string[]) => statuses.filter(status => of.includes(status)).length
  return {
    file,
    passed: count('expected'),
    // No retries by Playwright: a test that passes only when repeated is not reliable.
    failed: count('unexpected', 'flaky'),
    skipped: count('skipped'),
    failures: [],
  }
}

/** Runs the specs `files` with the configuration in the folder `root`. A run that fails outside of any test counts as one failed test of no file. */
export async function runBrowserTests(files: readonly string[], root: string): Promise<BrowserRan> {
  if (files.length === 0) return { ran: [], said: '' }
  const output = join(tmpdir(), `sluice-browser-${process.pid}.json`)
  const child = spawn(join(ROOT, 'node_modules/.bin/playwright'), ['test', '--reporter=list,json', ...files], {
    cwd: root,
    env: { ...process.env, PLAYWRIGHT_JSON_OUTPUT_FILE: output },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Its workers would stay when a signal ends this process.
  const interrupt = () => void child.kill('SIGINT')
  process.once('exit', interrupt)
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  process.off('exit', interrupt)
  const report = Report.safeParse(await readFile(output, 'utf8').then(JSON.parse, () => undefined))
  await rm(output, { force: true })
  const suites = report.success ? report.data.suites : []
  const ran = suites.map(suite => countSuite(files.find(file => file.endsWith(suite.file)) ?? suite.file, suite))
  // For instance when the server under test does not start.
  if (child.exitCode !== 0 && ran.every(({ failed }) => failed === 0))
    ran.push({ file: NO_FILE, passed: 0, failed: 1, skipped: 0, failures: [] })
  return { ran, said: out + errors }
}
