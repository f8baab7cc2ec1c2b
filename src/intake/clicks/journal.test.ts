import assert from 'node:assert/strict'
import {
  appendFileSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { pino } from 'pino'
import { aClick } from '../../../tests/support/visits.ts'
import type { Click } from './click.ts'
import { openJournal } from './journal.ts'

const key = Buffer.alloc(16, 2)
const log = pino({ level: 'silent' })
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-journal-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const files = () => readdirSync(folder).map(name => join(folder, name))
const clicks = (count: number): Click[] =>
  Array.from({ length: count }, (_, i) => aClick(key, 1, { sub1: `ü "${i}"\n` }))
const byId = (a: Click, b: Click) => (a.id < b.id ? -1 : 1)

/** Stores everything, and returns the clicks it got. */
async function drained(journal: Awaited<ReturnType<typeof openJournal>>): Promise<Click[]> {
  const got: Click[] = []
  const isAll = await journal.drain(async some => {
    got.push(...some)
    return true
  })
  assert.equal(isAll, true)
  return got.sort(byId)
}

test('what was appended comes back whole, and then the files are gone', async () => {
  const journal = await openJournal(folder, log)
  const written = clicks(1300)
  await Promise.all(written.map(click => journal.append([click])))
  assert.equal(journal.isEmpty(), false)
  assert.equal(files().length, 1)
  assert.equal(journal.state().journal_bytes, statSync(files()[0] ?? '').size)
  assert.deepEqual(await drained(journal), written.sort(byId))
  assert.equal(journal.isEmpty(), true)
  assert.deepEqual(files(), [])
  await journal.close()
})

test("a dead process's file is taken over, without the line that its end cut short", async () => {
  const dead = await openJournal(folder, log)
  const written = clicks(20)
  await dead.append(written)
  const [path = ''] = files()
  truncateSync(path, statSync(path).size - 15)
  const journal = await openJournal(folder, log)
  assert.equal(journal.isEmpty(), false)
  assert.deepEqual(await drained(journal), written.slice(0, 19).sort(byId))
  assert.deepEqual(files(), [])
  await dead.close()
})

test('a damaged line costs itself alone', async () => {
  const dead = await openJournal(folder, log)
  const written = clicks(3)
  await dead.append(written.slice(0, 1))
  await dead.close()
  const [path = ''] = files()
  appendFileSync(path, '1234abcd {"org_id":1,"id"')
  appendFileSync(path, readFileSync(path, 'utf8').replace('ü', 'u'))
  const journal = await openJournal(folder, log)
  assert.deepEqual(await drained(journal), written.slice(0, 1))
})

test('what comes in while it is drained goes to another file and is drained the next time', async () => {
  const journal = await openJournal(folder, log)
  const [one, two, three] = clicks(3) as [Click, Click, Click]
  await journal.append([one])
  const got: string[] = []
  await journal.drain(async some => {
    if (got.length === 0) await journal.append([two])
    got.push(...some.map(click => click.id))
    return true
  })
  assert.deepEqual([got, journal.isEmpty()], [[one.id], false])
  assert.deepEqual(await drained(journal), [two])
  await journal.append([three])
  assert.deepEqual(await drained(journal), [three])
  await journal.close()
})

test('draining stops where clicks are not taken, and goes on there the next time', async () => {
  const journal = await openJournal(folder, log)
  const written = clicks(1200)
  await journal.append(written)
  const taken: Click[] = []
  const isAll = await journal.drain(async some => {
    if (taken.length > 0) return false
    taken.push(...some)
    return true
  })
  assert.equal(isAll, false)
  assert.ok(taken.length > 0 && taken.length < 1200)
  assert.equal(journal.isEmpty(), false)
  assert.equal(files().length, 1)
  const rest = await drained(journal)
  assert.deepEqual([...taken, ...rest].sort(byId), written.sort(byId))
  await journal.close()
})

test('a live process loses nothing when another one takes its file over', async () => {
  const live = await openJournal(folder, log)
  const [one, two] = clicks(2) as [Click, Click]
  await live.append([one])
  const other = await openJournal(folder, log)
  assert.deepEqual(await drained(other), [one])
  await live.append([two])
  const third = await openJournal(folder, log)
  assert.deepEqual(await drained(third), [two])
  assert.deepEqual(await drained(live), [])
  await live.close()
})

test('a line in a file that was unlinked is written anew before it counts', async () => {
  const journal = await openJournal(folder, log)
  const [one, two] = clicks(2) as [Click, Click]
  await journal.append([one])
  unlinkSync(files()[0] ?? '')
  await journal.append([two])
  assert.match(readFileSync(files()[0] ?? '', 'utf8'), new RegExp(two.id))
  await journal.close()
})

test('a disk that takes nothing is an error, not a silence', async () => {
  const journal = await openJournal(folder, log)
  rmSync(folder, { recursive: true })
  await assert.rejects(journal.append(clicks(1)), { code: 'ENOENT' })
  await journal.close()
  folder = mkdtempSync(join(tmpdir(), 'sluice-journal-'))
})

test("what root writes into a user's folder is that user's", {
  skip: process.getuid?.() === 0 ? false : 'only root can give a file away',
}, async () => {
  chownSync(folder, 65534, 65534)
  const inside = join(folder, 'journal')
  const journal = await openJournal(inside, log)
  await journal.append(clicks(1))
  await journal.close()
  assert.deepEqual(
    [inside, ...readdirSync(inside).map(name => join(inside, name))].map(path => statSync(path).uid),
    [65534, 65534],
  )
})
