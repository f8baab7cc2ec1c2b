import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { writeBackup } from './file.ts'
import { nameBackup, removeOldBackups } from './retention.ts'

const secretOf = (fingerprint: string) => ({ fingerprint, backupKey: createSecretKey(Buffer.alloc(32, fingerprint)) })
const secret = secretOf('0123456789abcdef0123456789abcdef')
const other = secretOf('fedcba9876543210fedcba9876543210')

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-kept-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const day = (number: number) => new Date(Date.UTC(2026, 10, number, 3))

/** Writes a small backup of that day and returns its path. */
async function backupOf(number: number, of = secret): Promise<string> {
  const path = join(folder, nameBackup(day(number), of))
  await writeBackup(path, (async function* () {})(), of.backupKey)
  return path
}

test('the newest backups are kept, in any order of their making, and always the one just made', async () => {
  for (const number of [3, 1, 2, 4]) await backupOf(number)
  const path = await backupOf(5)
  assert.deepEqual(
    await removeOldBackups(path, 3, secret),
    [2, 1].map(number => nameBackup(day(number), secret)),
  )
  assert.deepEqual(
    readdirSync(folder).toSorted(),
    [3, 4, 5].map(number => nameBackup(day(number), secret)),
  )
  const earlier = await backupOf(1)
  await removeOldBackups(earlier, 1, secret)
  assert.deepEqual(readdirSync(folder), [nameBackup(day(1), secret)], 'even if the clock was set back')
})

test('only files that --keep made are removed: none of another name or installation, no folder, no link, nothing unsigned', async () => {
  const spared = [
    nameBackup(day(1)),
    'one.backup',
    'letter.txt',
    `x${nameBackup(day(1), secret)}`,
    `${nameBackup(day(1), secret)}.gz`,
    nameBackup(day(2), secret),
  ]
  for (const name of spared) writeFileSync(join(folder, name), 'mine')
  await backupOf(3, other)
  mkdirSync(join(folder, nameBackup(day(4), secret)))
  symlinkSync(join(folder, 'letter.txt'), join(folder, nameBackup(day(5), secret)))
  const before = readdirSync(folder).toSorted()
  await backupOf(6)
  const path = await backupOf(7)
  assert.deepEqual(await removeOldBackups(path, 1, secret), [nameBackup(day(6), secret)])
  assert.deepEqual(readdirSync(folder).toSorted(), [...before, nameBackup(day(7), secret)].toSorted())
})

test('an unfinished backup is removed a day after its last write', async () => {
  const dead = `${nameBackup(day(1), secret)}.unfinished`
  const live = `${nameBackup(day(2), secret)}.unfinished`
  for (const name of [dead, live]) writeFileSync(join(folder, name), '')
  utimesSync(join(folder, dead), 0, Date.now() / 1000 - 86_500)
  const path = await backupOf(3)
  assert.deepEqual(await removeOldBackups(path, 14, secret), [dead])
  assert.deepEqual(readdirSync(folder).toSorted(), [live, nameBackup(day(3), secret)].toSorted())
})

test('an aborted backup leaves no file', async () => {
  const path = join(folder, 'one.backup')
  const over = new AbortController()
  async function* parts() {
    yield { bytes: Buffer.from('rows') }
    over.abort(new Error('interrupted'))
    for (;;) yield { bytes: Buffer.from('rows') }
  }
  await assert.rejects(writeBackup(path, parts(), secret.backupKey, over.signal), /interrupted/)
  assert.deepEqual(readdirSync(folder), [])
})
