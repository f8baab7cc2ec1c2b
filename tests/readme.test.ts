import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { startHouse } from './support/house.ts'
import { awayFromMidnight } from './support/midnight.ts'

const run = promisify(execFile)

/** What the tour of a page writes if it is run as printed, on a new installation. */
async function tourOf(t: TestContext, page: string): Promise<string> {
  const house = await startHouse()
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tour-'))
  t.after(async () => {
    await house.end()
    rmSync(folder, { recursive: true, force: true })
  })
  const address = await house.listen()
  const text = readFileSync(join(import.meta.dirname, '..', page), 'utf8')
  const tour = /```sh tour\n(.*?)```/s.exec(text)?.[1] ?? assert.fail(`${page} has no tour`)
  const here = tour.replace('http://localhost:8080', address)
  // Its report is of today.
  await awayFromMidnight()
  const { stdout, stderr } = await run('bash', ['-e', '-c', here], { cwd: folder, timeout: 120_000 })
  assert.equal(stderr, '')
  return stdout
}

test('the tour in the README works as printed', async t => {
  const stdout = await tourOf(t, 'README.md')
  assert.equal(stdout.match(/HTTP\/1.1 201/g)?.length, 2)
  assert.match(stdout, /idempotent-replayed: true/i)
  assert.match(stdout, /"type":"ftd","payout":"40"/)
  assert.match(stdout, /"sub1":"banner-7".*"revenue":"40"/)
  assert.match(stdout, /"label":"Summer","clicks":1,.*"ftd":1,"revenue":"40.00"/)
})

test('the first campaign in docs/first-campaign.md is made, paid and charged as printed', async t => {
  const stdout = await tourOf(t, 'docs/first-campaign.md')
  assert.match(stdout, /\/c\/first\?ref_id=\$\{SUBID\}&sub1=\{zoneid\}/)
  assert.match(stdout, /^OK$/m)
  assert.match(stdout, /40\.00\n12\.50\n$/)
})
