// Runs Playwright over the dashboard's tests and counts what they did.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import * as z from 'zod'
import type { Counts } from './node-tests.ts'

const ROOT = join(import.meta.dirname, '../..')
const Report = z.object({
  stats: z.object({ expected: z.int(), unexpected: z.int(), flaky: z.int(), skipped: z.int() }),
})

/** What the tests did, and all they said, for whoever runs something else beside them. */
type Ran = Counts & { said: string }

/** A test that passed only when repeated counts as failed: what it guards does not always hold. */
export async function runBrowserTests(files: readonly string[]): Promise<Ran> {
  if (files.length === 0) return { passed: 0, failed: 0, skipped: 0, said: '' }
  const output = join(tmpdir(), `sluice-browser-${process.pid}.json`)
  const child = spawn(join(ROOT, 'node_modules/.bin/playwright'), ['test', '--reporter=list,json', ...files], {
    cwd: ROOT,
    env: { ...process.env, PLAYWRIGHT_JSON_OUTPUT_FILE: output },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const said = out + errors
  const report = Report.safeParse(await readFile(output, 'utf8').then(JSON.parse, () => undefined))
  await rm(output, { force: true })
  if (!report.success) return { passed: 0, failed: 1, skipped: 0, said }
  const { expected, unexpected, flaky, skipped } = report.data.stats
  // It may also fail outside of any test, for instance when the server under test does not start.
  const failed = unexpected + flaky
  return { passed: expected, failed: failed === 0 && child.exitCode !== 0 ? 1 : failed, skipped, said }
}
