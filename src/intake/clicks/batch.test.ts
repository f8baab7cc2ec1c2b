import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../../tests/support/any-character.ts'
import { pino } from 'pino'
import { useDatabase } from '../../../tests/support/database.ts'
import { aClick, recount } from '../../../tests/support/visits.ts'
import { newId, timeOfId } from '../../contract/ids.ts'
import { openAbsence } from '../../ground/db/absence.ts'
import { type Batches, openBatches } from './batch.ts'
import { CLICK_COLUMNS, type Click } from './click.ts'
import { organizationOfClick } from './click-id.ts'
import { openJournal } from './journal.ts'
import { openOutage } from './outage.ts'
import { storeClicks } from './store.ts'

const clickKey = Buffer.alloc(16, 3)
const fresh = await useDatabase()
const folder = mkdtempSync(join(tmpdir(), 'sluice-batch-'))
after(() => rmSync(folder, { recursive: true }))

let organizations = 0
const org = () => ++organizations

async function open(): Promise<Batches> {
  const log = pino({ level: 'silent' })
  const pool = fresh.database.clicks
  const journal = await openJournal(folder, log)
  return openBatches({ pool, clickKey, outage: openOutage({ pool, away: openAbsence(), journal, log }), log })
}

async function stored(org_id: number): Promise<Click[]> {
  const { rows } = await fresh.database.reads.query<Click>(
    `select ${CLICK_COLUMNS.map(column => (column.startsWith('ip_') ? `encode(${column}, 'hex') as ${column}` : column)).join(', ')} from clicks where org_id = $1 order by id`,
    [org_id],
  )
  return rows
}

test('10,000 clicks of two organizations at once are each stored and counted exactly once', async () => {
  const batches = await open()
  const [one, two] = [org(), org()]
  const clicks = Array.from({ length: 10_000 }, (_, i) =>
    aClick(clickKey, i % 3 === 0 ? one : two, { sub1: `ad ${i % 7}`, campaign_id: newId(), tracked: i % 10 !== 0 }),
  )
  const ids = await Promise.all(clicks.map(click => batches.store(click)))
  assert.equal(new Set(ids).size, 10_000)
  const [first, second] = await Promise.all([recount(fresh.database, one), recount(fresh.database, two)])
  assert.deepEqual([first.clicks, second.clicks], [3334, 6666])
  assert.deepEqual([first.counted, second.counted], [first.tracked, second.tracked])
  assert.equal(first.tracked + second.tracked, 9000)
  const { stored, lost, batches: sent, in_flight } = batches.state()
  assert.deepEqual({ stored, lost, in_flight }, { stored: 10_000, lost: 0, in_flight: 0 })
  assert.ok(sent >= 20 && sent < 40, `${sent} batches`)
})

test('of a crowd the first are on their way to the database while the turn still reads the others', async () => {
  const batches = await open()
  const clicks = Array.from({ length: 60 }, () => aClick(clickKey, org(), {}))
  for (const round of [1, 2]) {
    const arriving = clicks.map(({ org_id }) => aClick(clickKey, org_id, {}))
    const ids = arriving.slice(0, 30).map(click => batches.store(click))
    assert.ok(batches.state().in_flight > 0, `round ${round}`)
    ids.push(...arriving.slice(30).map(click => batches.store(click)))
    assert.equal(new Set(await Promise.all(ids)).size, 60)
  }
  const before = batches.state().batches
  await Promise.all(clicks.slice(0, 3).map(click => batches.store(click)))
  assert.equal(batches.state().batches, before + 1, 'a few are one batch')
})

test('the counters appended with the clicks equal a recount in every dimension', async () => {
  const batches = await open()
  const org_id = org()
  const ids = [newId(), newId()]
  const clicks = Array.from({ length: 500 }, (_, i) =>
    aClick(clickKey, org_id, {
      campaign_id: ids[i % 2] ?? null,
      offer_id: i % 5 === 0 ? null : newId(),
      geo: [null, 'DE', 'BR'][i % 3] ?? null,
      sub1: [null, 'a "quoted" \\ one', 'ü,{}'][i % 7] ?? null,
      tracked: i % 4 !== 0,
    }),
  )
  await Promise.all(clicks.map(click => batches.store(click)))
  const cells = 'day, campaign_id, offer_id, geo, sub1'
  const { rows } = await fresh.database.reads.query(
    `select * from (
       select ${cells}, sum(clicks)::int as clicks, sum(landed + started + registered + lead + deposit + ftd)::int as other, sum(revenue) as revenue
         from report_delta where org_id = $1 group by ${cells}) counted
     full join (
       select (timestamp 'epoch' + ('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint * interval '1 ms')::date as day, campaign_id,
         coalesce(offer_id, '00000000-0000-0000-0000-000000000000') as offer_id, coalesce(geo, '') as geo, coalesce(sub1, '') as sub1, count(*)::int as found
         from clicks where org_id = $1 and tracked group by 1, 2, 3, 4, 5) recounted using (${cells})
     where clicks is distinct from found or other <> 0 or revenue <> 0`,
    [org_id],
  )
  assert.deepEqual(rows, [])
  assert.deepEqual(await recount(fresh.database, org_id), { clicks: 500, tracked: 375, counted: 375 })
})

test('every field comes back as it was given, whatever characters it holds', async () => {
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('', '"', '\\', '\\"', '(,)', '{}', 'NULL', 'null', ' ', '\n\t', '\\x41', '😀', "'; drop"),
  )
  const faithful = fc.option(text.map(sent => sent.toWellFormed().replaceAll('\0', '')))
  const uuid = fc.option(fc.uuid())
  const row = fc.record({
    campaign_id: uuid,
    offer_id: uuid,
    landing_id: uuid,
    tracked: fc.boolean(),
    test: fc.boolean(),
    visitor_id: uuid,
    visitor_is_new: fc.option(fc.boolean()),
    ip_hash: fc.option(
      fc.uint8Array({ minLength: 16, maxLength: 16 }).map(bytes => Buffer.from(bytes).toString('hex')),
    ),
    suppressed_delivery: fc.boolean(),
    ...Object.fromEntries(
      [
        'geo',
        'device',
        'os',
        'browser',
        'ref_id',
        'sub1',
        'sub9',
        'fbclid',
        'ttclid',
        'user_agent',
        'click_flow_node_path',
      ].map(name => [name, faithful]),
    ),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 5 }), async fields => {
      const org_id = org()
      const clicks = fields
        .map(some => aClick(clickKey, org_id, some as Partial<Click>))
        .sort((a, b) => (a.id < b.id ? -1 : 1))
      await storeClicks(fresh.database.clicks, clicks)
      assert.deepEqual(await stored(org_id), clicks)
    }),
    { numRuns: 60 },
  )
})

test('an id that is taken is minted anew before it is handed out', async () => {
  const batches = await open()
  const org_id = org()
  const taken = aClick(clickKey, org_id, { sub1: 'first' })
  assert.equal(await batches.store({ ...taken }), taken.id)
  const clashing = Array.from({ length: 3 }, (_, i) => aClick(clickKey, org_id, { id: taken.id, sub1: `again ${i}` }))
  const others = Array.from({ length: 5 }, () => aClick(clickKey, org_id, { sub1: 'other' }))
  const ids = await Promise.all([...clashing, ...others].map(click => batches.store(click)))
  assert.equal(new Set([...ids, taken.id]).size, 9)
  for (const id of ids) assert.equal(organizationOfClick(clickKey, id ?? ''), org_id)
  assert.deepEqual(
    ids.slice(3),
    others.map(click => click.id),
  )
  assert.ok(ids.every(id => Math.abs(timeOfId(id ?? '') - timeOfId(taken.id)) < 60_000))
  const rows = await stored(org_id)
  assert.deepEqual(
    rows.filter(row => row.id === taken.id).map(row => row.sub1),
    ['first'],
  )
  assert.deepEqual(await recount(fresh.database, org_id), { clicks: 9, tracked: 9, counted: 9 })
})

test('a click that the database refuses harms no other one of its batch', async () => {
  const batches = await open()
  const org_id = org()
  // An invalid uuid, U+0000, and a value that cannot be serialized.
  const faults = new Map<number, Partial<Click>>([
    [20, { visitor_id: 'no uuid' }],
    [41, { sub2: 'a\0b' }],
    [50, { id: null as unknown as string }],
  ])
  const clicks = Array.from({ length: 64 }, (_, i) => aClick(clickKey, org_id, faults.get(i)))
  const ids = await Promise.all(clicks.map(click => batches.store(click)))
  const lost = ids.flatMap((id, i) => (id === undefined ? [i] : []))
  assert.deepEqual(lost, [20, 41, 50])
  assert.deepEqual(await recount(fresh.database, org_id), { clicks: 61, tracked: 61, counted: 61 })
  assert.equal(batches.state().lost, 3)
})

test('one click alone is written at once', async () => {
  const batches = await open()
  const org_id = org()
  const click = aClick(clickKey, org_id)
  assert.equal(await batches.store(click), click.id)
  assert.deepEqual(
    (await stored(org_id)).map(row => row.id),
    [click.id],
  )
  await batches.idle()
})
