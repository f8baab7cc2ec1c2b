import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startHouse } from './support/house.ts'
import { awayFromMidnight } from './support/midnight.ts'

const run = promisify(execFile)

test('the tour in the README works as printed', async t => {
  const house = await startHouse()
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tour-'))
  t.after(async () => {
    await house.end()
    rmSync(folder, { recursive: true, force: true })
  })
  const address = await house.listen()
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  const tour = /```sh tour\n(.*?)```/s.exec(readme)?.[1] ?? assert.fail('the README has no tour')
  const here = tour.replace('http://localhost:8080', address)
  // Its report is of today.
  await awayFromMidnight()
  const { stdout, stderr } = await run('bash', ['-e', '-c', here], { cwd: folder, timeout: 120_000 })
  assert.equal(stderr, '')
  assert.equal(stdout.match(/HTTP\/1.1 201/g)?.length, 2)
  assert.match(stdout, /idempotent-replayed: true/i)
  assert.match(stdout, /"type":"ftd","payout":"40"/)
  assert.match(stdout, /"sub1":"banner-7".*"revenue":"40"/)
  assert.match(stdout, /"label":"Summer","clicks":1,.*"ftd":1,"revenue":"40.00"/)
})
