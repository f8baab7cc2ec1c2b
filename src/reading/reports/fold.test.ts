import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { pino } from 'pino'
import { useDatabase } from '../../../tests/support/database.ts'
import { newId } from '../../contract/ids.ts'
import { type Cell, DeltaSheet, NO_ID } from '../../intake/counters/deltas.ts'
import { openFolder } from './fold.ts'

const { database } = await useDatabase()
const log = pino({ level: 'silent' })

const cell = (more: Partial<Cell> = {}): Cell => ({
  day: '2026-03-04',
  campaign_id: NO_ID,
  offer_id: NO_ID,
  geo: '',
  sub1: '',
  ...more,
})

async function append(org_id: number, cells: readonly Cell[]): Promise<void> {
  const sheet = new DeltaSheet()
  for (const one of cells) sheet.add(org_id, one, { clicks: 1, ftd: 1, revenue: '0.5' })
  const { text, values = [] } = sheet.statement() ?? assert.fail()
  await database.worker.query(text, [...values])
}

async function left(): Promise<number> {
  const { rows } = await database.reads.query<{ left: number }>('select count(*)::int as left from report_delta')
  return rows[0]?.left ?? Number.NaN
}

const anyone = () => randomInt(1, 2 ** 31 - 1)

test('each click is counted once per unit and level: days and weeks, each campaign and all of them', async () => {
  const org_id = anyone()
  const [campaign_id, offer_id] = [newId(), newId()]
  const folder = openFolder({ database, log })
  await append(org_id, [cell({ campaign_id, offer_id, geo: 'DE', sub1: 'a' }), cell({ day: '2026-03-08', geo: 'US' })])
  await folder.foldAll()
  await append(org_id, [cell({ day: '2026-03-02', campaign_id, geo: 'DE' })])
  await folder.foldAll()
  await folder.close()
  const { rows } = await database.reads.query(
    `select dimension, array_agg(concat_ws(' ', day, case campaign_id when $2 then 'one' when $3 then 'none' end, nullif(key, ''), clicks, revenue)
      order by day, campaign_id, key) as counted from report_day where org_id = $1 group by dimension order by dimension`,
    [org_id, campaign_id, NO_ID],
  )
  const counted = Object.fromEntries(rows.map(row => [row.dimension, row.counted]))
  assert.deepEqual(counted[1], ['2026-03-02 one 1 0.5', '2026-03-04 one 1 0.5', '2026-03-08 none 1 0.5'])
  assert.deepEqual(counted[2], ['2026-03-02 one DE 1 0.5', '2026-03-04 one DE 1 0.5', '2026-03-08 none US 1 0.5'])
  assert.deepEqual(counted[4], ['2026-03-02 one 1 0.5', `2026-03-04 one ${offer_id} 1 0.5`, '2026-03-08 none 1 0.5'])
  assert.deepEqual(counted[13], ['2026-03-02 none 1 0.5', '2026-03-04 none a 1 0.5', '2026-03-08 none 1 0.5'])
  assert.deepEqual(counted[21], ['2026-03-02 none 1 0.5', '2026-03-02 one 2 1.0'])
  assert.deepEqual(counted[31], ['2026-03-02 none 3 1.5'])
  assert.deepEqual(counted[32], ['2026-03-02 none DE 2 1.0', '2026-03-02 none US 1 0.5'])
  assert.deepEqual(Object.keys(counted).map(Number), [1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 34])
})

test('sheets beyond a portion, of many organizations, are folded completely and once by several processes', async () => {
  const orgs = Array.from({ length: 12 }, anyone)
  const many = Array.from({ length: 25_000 }, (_, at) => cell({ sub1: `ad-${at}` }))
  await append(orgs[0] as number, many)
  for (const org_id of orgs) await append(org_id, many.slice(0, 30))
  const folders = [openFolder({ database, log }), openFolder({ database, log }), openFolder({ database, log })]
  await Promise.all(folders.map(folder => folder.foldAll()))
  await Promise.all(folders.map(folder => folder.close()))
  assert.equal(await left(), 0)
  const { rows } = await database.reads.query(
    'select org_id, sum(clicks)::int as clicks from report_day where org_id = any($1) and dimension = 13 group by org_id',
    [orgs],
  )
  const clicks = new Map(rows.map(row => [row.org_id, row.clicks]))
  assert.deepEqual(
    orgs.map(org_id => clicks.get(org_id)),
    [25_030, ...Array.from({ length: 11 }, () => 30)],
  )
})

test('a portion ends by the size of its sheets, however few they are', async () => {
  const org_id = anyone()
  const folder = openFolder({ database, log })
  await folder.close()
  for (let sheet = 0; sheet < 8; sheet += 1)
    await append(
      org_id,
      Array.from({ length: 1000 }, (_, at) => cell({ sub1: `${sheet} ${at} `.padEnd(500, 'x') })),
    )
  await folder.foldAll()
  const { rows } = await database.reads.query(
    `select count(distinct xmin::text)::int as portions, sum(clicks)::int as clicks from report_day where org_id = $1 and dimension = 13`,
    [org_id],
  )
  assert.equal(rows[0].clicks, 8000)
  assert.ok(rows[0].portions > 1, `${rows[0].portions} portion`)
})

test('folding is periodic, and continues after a database failure', async () => {
  const warned: unknown[] = []
  const warning = pino({ level: 'warn' }, { write: line => void warned.push(line) })
  const folder = openFolder({ database, log: warning }, 20)
  await sql`alter table report_day rename to report_day_away`.execute(database.schema)
  const org_id = anyone()
  await append(org_id, [cell()])
  while (warned.length === 0) await left()
  await assert.rejects(folder.foldAll(), /report_day/)
  assert.equal(await left(), 1)
  await sql`alter table report_day_away rename to report_day`.execute(database.schema)
  while ((await left()) > 0);
  await folder.close()
  const { rows } = await database.reads.query('select clicks from report_day where org_id = $1 and dimension = 31', [
    org_id,
  ])
  assert.deepEqual(rows, [{ clicks: '1' }])
})
