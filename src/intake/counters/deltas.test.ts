import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../../tests/support/any-character.ts'
import { useDatabase } from '../../../tests/support/database.ts'
import { newId } from '../../contract/ids.ts'
import { type Cell, type Counts, cellOf, DeltaSheet, NO_ID } from './deltas.ts'

const ground = await useDatabase()

const cell = (more: Partial<Cell> = {}): Cell => ({
  day: '2026-03-01',
  campaign_id: NO_ID,
  offer_id: NO_ID,
  geo: 'DE',
  sub1: '',
  ...more,
})

async function append(sheet: DeltaSheet, org_id: number) {
  const statement = sheet.statement()
  assert.ok(statement)
  await ground.database.worker.query(statement.text, [...(statement.values ?? [])])
  const { rows } = await ground.database.reads.query(
    'select day, campaign_id, offer_id, geo, sub1, clicks, landed, ftd, revenue from report_delta where org_id = $1 order by offer_id',
    [org_id],
  )
  return rows
}

test('changes of one cell become one row, and organizations stay apart', async () => {
  const sheet = new DeltaSheet()
  const offer_id = newId()
  for (const revenue of ['12.5', '0.000001', '-0.25']) sheet.add(1, cell(), { clicks: 1, landed: 2, revenue })
  sheet.add(1, cell({ offer_id }), { ftd: -1 })
  sheet.add(2, cell(), { clicks: 7 })
  const row = { ...cell(), clicks: 3, landed: 6, ftd: 0, revenue: '12.250001' }
  assert.deepEqual(await append(sheet, 1), [row, { ...row, offer_id, clicks: 0, landed: 0, ftd: -1, revenue: '0' }])
  const { rows } = await ground.database.reads.query('select clicks from report_delta where org_id = 2')
  assert.deepEqual(rows, [{ clicks: 7 }])
})

test('a sheet whose changes cancel out has no statement', () => {
  const sheet = new DeltaSheet()
  assert.equal(sheet.statement(), undefined)
  sheet.add(1, cell(), { clicks: 1, revenue: '3.10' })
  sheet.add(1, cell(), { clicks: -1, revenue: '-3.1' })
  assert.equal(sheet.statement(), undefined)
})

test('any text and any amount arrive in the database as they were given', async () => {
  let org_id = 100
  const text = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 20 }).map(value => value.replaceAll('\u0000', '').toWellFormed()),
    fc.constantFrom('NULL', 'null', '{}', '"', '\\', ',', ' ', '{"a","b"}', "'; drop table clicks", '\n'),
  )
  const amount = fc
    .tuple(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), fc.integer({ min: 0, max: 6 }))
    .map(([value, places]) => {
      const digits = (value < 0n ? -value : value).toString().padStart(places + 1, '0')
      return `${value < 0n ? '-' : ''}${digits.slice(0, digits.length - places)}${places > 0 ? `.${digits.slice(-places)}` : ''}`
    })
  await fc.assert(
    fc.asyncProperty(text, text, fc.array(amount, { minLength: 1, maxLength: 8 }), async (geo, sub1, amounts) => {
      org_id += 1
      const sheet = new DeltaSheet()
      for (const revenue of amounts) sheet.add(org_id, cell({ geo, sub1 }), { clicks: 1, revenue })
      const [row] = await append(sheet, org_id)
      const sum = 'select trim_scale(sum(x))::text as sum from unnest($1::numeric[]) x'
      const { rows } = await ground.database.reads.query(sum, [amounts])
      assert.deepEqual(row, { ...cell({ geo, sub1 }), clicks: amounts.length, landed: 0, ftd: 0, revenue: rows[0].sum })
    }),
    { numRuns: 60 },
  )
})

test('a sheet of a great many cells arrives whole', async () => {
  const sheet = new DeltaSheet()
  for (let at = 0; at < 70_000; at += 1)
    sheet.add(9, cell({ sub1: String(at) }), { clicks: 1 } satisfies Partial<Counts>)
  assert.equal((await append(sheet, 9)).length, 70_000)
})

test('changes are kept by the half hour of the UTC day that their clicks were made in', async () => {
  const sheet = new DeltaSheet()
  const place = { campaign_id: null, offer_id: null, geo: null, sub1: 'a' }
  for (const time of ['00:00:00.000', '23:29:59.999', '23:30:00.000', '23:59:59.999']) {
    const made = cellOf({ ...place, id: newId(Date.parse(`2026-03-01T${time}Z`)) })
    sheet.add(10, made, { clicks: 1, cost: '0.25' })
  }
  await append(sheet, 10)
  const { rows } = await ground.database.reads.query(
    'select day, slot, cost from report_delta where org_id = 10 order by slot',
  )
  const [day, half] = ['2026-03-01', '0.25']
  assert.deepEqual(rows, [
    { day, slot: 0, cost: half },
    { day, slot: 46, cost: half },
    { day, slot: 47, cost: '0.5' },
  ])
})
