// The reserve of the journal, on a disk of its own that is filled.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { pino } from 'pino'
import { useDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { startProxy } from '../../../tests/support/proxy.ts'
import { mountSmallDisk, type SmallDisk, whyNoDisk } from '../../../tests/support/small-disk.ts'
import { aClick, recount, seedCampaign, startTraffic } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'
import { connect } from '../../ground/db/connect.ts'
import { type Journal, openJournal } from './journal.ts'

const fresh = await useDatabase()
const skip = whyNoDisk()
const log = pino({ level: 'silent' })
const clickKey = Buffer.alloc(16, 2)
const MEGABYTE = 1_048_576
let disk: SmallDisk
beforeEach(() => {
  if (skip !== false) return
  disk = mountSmallDisk(6)
})
afterEach(() => skip === false && disk.end())

/** Appends clicks one by one until the disk takes no more; returns the ids it took. */
async function fillUp(journal: Journal): Promise<string[]> {
  const taken: string[] = []
  for (;;) {
    const click = aClick(clickKey, 1)
    try {
      await journal.append([click])
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
      return taken
    }
    taken.push(click.id)
  }
}

async function idsIn(journal: Journal): Promise<string[]> {
  const found: string[] = []
  await journal.drain(async clicks => {
    found.push(...clicks.map(({ id }) => id))
    return true
  })
  return found
}

test('on a full disk the journal goes on in its reserve, until that is full too', { skip }, async () => {
  const [without, withIt] = ['without', 'with'].map(name => join(disk.folder, name)) as [string, string]
  const bare = await openJournal(without, log)
  const journal = await openJournal(withIt, log, MEGABYTE)
  await journal.setAside()
  assert.equal(statSync(join(withIt, 'reserve')).size, MEGABYTE)
  const first = aClick(clickKey, 1)
  await Promise.all([journal.append([first]), bare.append([aClick(clickKey, 1)])])
  disk.fill()
  const [kept, lost] = [await fillUp(journal), await fillUp(bare)]
  const bytesEach = MEGABYTE / kept.length
  assert.ok(bytesEach < 1500, `${kept.length} clicks`)
  assert.ok(lost.length * 10 < kept.length, `${lost.length} without a reserve`)
  assert.deepEqual([journal.state().is_reserve_missing, bare.state().is_reserve_missing], [true, false])
  await assert.rejects(journal.setAside(), /too little free space/)
  assert.deepEqual(new Set(await idsIn(journal)), new Set([first.id, ...kept]))
  assert.deepEqual(readdirSync(withIt), ['reserve'], 'the disk is still full')
  assert.equal(journal.state().is_reserve_missing, false)
  const again = await fillUp(journal)
  assert.ok(again.length > kept.length - 10, `${again.length} the second time`)
  assert.deepEqual(new Set(await idsIn(journal)), new Set(again), 'no click of the first time')
  await Promise.all([journal.close(), bare.close()])
})

test('while the database takes nothing the reserve stays open, and then each click is drained', { skip }, async () => {
  const folder = join(disk.folder, 'journal')
  const journal = await openJournal(folder, log, MEGABYTE)
  await journal.setAside()
  disk.fill()
  const clicks = Array.from({ length: 60 }, () => aClick(clickKey, 1))
  for (const click of clicks) {
    const drained = journal.drain(() => Promise.resolve(false))
    await journal.append([click])
    assert.equal(await drained, click === clicks[0], 'at first there is nothing to drain')
  }
  assert.deepEqual(new Set(await idsIn(journal)), new Set(clicks.map(({ id }) => id)))
  assert.deepEqual(readdirSync(folder), ['reserve'])
  await journal.close()
})

test('the next process finds the clicks in the reserve of a dead one', { skip }, async () => {
  const dead = await openJournal(disk.folder, log, MEGABYTE)
  await dead.setAside()
  disk.fill()
  const clicks = Array.from({ length: 700 }, () => aClick(clickKey, 1))
  await dead.append(clicks)
  disk.free()
  const journal = await openJournal(disk.folder, log, MEGABYTE)
  // A line may also be in the file that the disk had no room for.
  assert.deepEqual(new Set(await idsIn(journal)), new Set(clicks.map(({ id }) => id)))
  await Promise.all([dead.close(), journal.close()])
})

test('a live process loses nothing when another one takes its reserve over while it writes', { skip }, async () => {
  const live = await openJournal(disk.folder, log, MEGABYTE)
  await live.setAside()
  disk.fill()
  const written = new Set<string>()
  const write = async () => {
    const click = aClick(clickKey, 1)
    await live.append([click])
    written.add(click.id)
  }
  await write()
  const other = await openJournal(disk.folder, log)
  const found = new Set<string>()
  await other.drain(async clicks => {
    // The reader is already past these lines.
    if (found.size === 0) for (let n = 0; n < 700; n += 1) await write()
    for (const { id } of clicks) found.add(id)
    return true
  })
  disk.free()
  await write()
  for (const id of await idsIn(live)) found.add(id)
  assert.deepEqual(
    [...written].filter(id => !found.has(id)),
    [],
  )
  await Promise.all([live.close(), other.close()])
})

test('a file that is not whole is not used, and made anew', { skip }, async () => {
  const journal = await openJournal(disk.folder, log, MEGABYTE)
  const path = join(disk.folder, 'reserve')
  // All its blocks are holes, as a copy of the folder may have it.
  writeFileSync(path, '')
  truncateSync(path, MEGABYTE)
  disk.fill()
  assert.deepEqual(await fillUp(journal), [])
  disk.free()
  await journal.setAside()
  assert.ok(statSync(path).blocks * 512 >= MEGABYTE)
  await journal.close()
})

test('visitors get their ids while the database is away and the disk is full, and each click is stored once', {
  skip,
}, async t => {
  const org_id = 77
  const { key } = await seedCampaign(fresh.database, org_id)
  const proxy = await startProxy(fresh.connection)
  const behind = connect([proxy.connection], { log, isBehind: false })
  const dataDir = join(disk.folder, 'data')
  mkdirSync(dataDir)
  const traffic = await startTraffic(behind, { DATA_DIR: dataDir, JOURNAL_RESERVE_MB: '1' })
  const isSetAside = () => existsSync(join(dataDir, 'journal/reserve')) && !traffic.clicks.state().is_reserve_missing
  const ids = async (count: number) => {
    const answers = await Promise.all(Array.from({ length: count }, () => traffic.visit(`/c/${key}`)))
    return answers.map(({ headers }) => new URL(String(headers['location'])).searchParams.get('c') ?? '')
  }
  try {
    await eventually('the reserve is set aside', isSetAside)
    proxy.set('cut')
    disk.fill()
    const handedOut: string[] = []
    while (handedOut.at(-1) !== '') handedOut.push(...(await ids(50)))
    const kept = handedOut.filter(id => id !== '')
    t.diagnostic(`${kept.length} ids from a reserve of 1 MB`)
    assert.ok(kept.length >= 1000, `${kept.length}`)
    assert.equal(traffic.clicks.state().lost, handedOut.length - kept.length)
    disk.free()
    proxy.set('flow')
    await eventually('recovery', () => traffic.clicks.isSettled() && !traffic.clicks.state().is_down)
    const { rows } = await fresh.database.reads.query<{ id: string }>('select id from clicks where org_id = $1', [
      org_id,
    ])
    const stored = new Set(rows.map(({ id }) => id))
    assert.deepEqual(
      kept.filter(id => !stored.has(toUuid(id) ?? '')),
      [],
    )
    const { clicks, counted } = await recount(fresh.database, org_id)
    assert.equal(clicks, counted)
  } finally {
    proxy.set('flow')
    await traffic.close('keep')
    await behind.close()
    await proxy.close()
  }
})
