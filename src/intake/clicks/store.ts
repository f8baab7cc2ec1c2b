// Stores clicks, with the report's counters and the rows for Explore in the same transaction.
import type pg from 'pg'
import { CLICKED } from '../../contract/ladder.ts'
import { sqlState } from '../../ground/db/faults.ts'
import { ask, flight } from '../../ground/db/flight.ts'
import { inTransaction } from '../../ground/db/transaction.ts'
import { sharedStatement } from '../../traffic/invite-links/grants.ts'
import { ClickSheet } from '../counters/click-sheet.ts'
import { cellOf, costsOf, DeltaSheet } from '../counters/deltas.ts'
import { storeVisits } from './store-visits.ts'
import { CLICK_COLUMNS, type Click, clicksLiteral, NEW_CLICKS } from './click.ts'

const columns = CLICK_COLUMNS.join(', ')
const others = CLICK_COLUMNS.slice(1)
  .map(column => `c.${column}`)
  .join(', ')

/** Clicks of all organizations in one plain insert: with `on conflict` or `returning` it would be eight times slower on shards. */
const INSERT = `insert into clicks (${columns}, status, stages)
  select c.org_id, ${others}, 0, ${CLICKED} from unnest($1::${NEW_CLICKS}) as c`

/**
 * For clicks of one organization that may be stored already. Clicks of dropped months are not stored again, because it is unknown whether they
 * were counted. The statement holds its lock on `clicks` before it reads `dropped_clicks`, so no month is dropped in between.
 */
const INSERT_ABSENT = `insert into clicks (${columns}, status, stages)
  select $2::int, ${others}, 0, ${CLICKED} from unnest($1::${NEW_CLICKS}) as c
  where not exists (select 1 from dropped_clicks where before_id > c.id)
  on conflict (org_id, id) do nothing
  returning id`

const LINK = `update clicks c set link_id = g.link_id
  from unnest($2::uuid[], $3::uuid[]) as g (id, link_id)
  where c.org_id = $1 and c.id = g.id and c.link_id is null`

/**
 * Stores new clicks in one transaction and one round trip.
 * @throws the database's error; 23505 for an id that exists.
 */
export async function storeClicks(pool: pg.Pool, clicks: readonly Click[]): Promise<void> {
  const deltas = sheetOf(clicks).statement()
  const born = bornOf(clicks).statement()
  const shared = sharedStatement(clicks)
  const client = await pool.connect()
  try {
    await flight(client, {
      begin: ask('begin'),
      clicks: ask(INSERT, [clicksLiteral(clicks)]),
      deltas: deltas && ask(deltas.text, deltas.values),
      born: born && ask(born.text, born.values),
      shared: shared && ask(shared.text, shared.values),
      commit: ask('commit'),
    })
    client.release()
  } catch (error) {
    // After a failed statement the commit was skipped. A connection in an unknown state is closed without a rollback, which could hang.
    if (sqlState(error) === undefined) client.release(true)
    else
      await client.query('rollback').then(
        () => client.release(),
        () => client.release(true),
      )
    throw error
  }
}

/** Stores the clicks that are not stored yet and not of a dropped month, and counts only those. */
export async function storeAbsentClicks(pool: pg.Pool, org_id: number, clicks: readonly Click[]): Promise<void> {
  const visits = clicks.filter(isVisit)
  if (visits.length > 0) await storeVisits(pool, org_id, visits, true)
  if (visits.length < clicks.length)
    await storePlainClicks(
      pool,
      org_id,
      clicks.filter(click => !isVisit(click)),
    )
}

const isVisit = ({ visit, isJoinable }: Click): boolean => visit !== undefined || isJoinable === true

async function storePlainClicks(pool: pg.Pool, org_id: number, clicks: readonly Click[]): Promise<void> {
  await inTransaction(pool, async client => {
    const { rows } = await client.query<{ id: string }>(INSERT_ABSENT, [clicksLiteral(clicks), org_id])
    const stored = new Set(rows.map(row => row.id))
    const added = clicks.filter(click => stored.has(click.id))
    // A process of an older version, which knows no invite links, may have stored a click without its link.
    const linked = clicks.filter(({ id, link_id }) => link_id != null && !stored.has(id))
    if (linked.length > 0)
      await client.query(LINK, [org_id, linked.map(({ id }) => id), linked.map(({ link_id }) => link_id)])
    for (const statement of [sheetOf(added).statement(), bornOf(added).statement(), sharedStatement(clicks)])
      if (statement !== undefined) await client.query(statement.text, [...(statement.values ?? [])])
  })
}

/** Which of these click ids the organization already has. */
export async function readTakenIds(pool: pg.Pool, org_id: number, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>('select id from clicks where org_id = $1 and id = any($2)', [
    org_id,
    ids,
  ])
  return new Set(rows.map(row => row.id))
}

function sheetOf(clicks: readonly Click[]): DeltaSheet {
  const sheet = new DeltaSheet()
  for (const click of clicks) {
    if (!click.tracked) continue
    sheet.add(click.org_id, cellOf(click), { clicks: 1, ...costsOf(click) })
  }
  return sheet
}

function bornOf(clicks: readonly Click[]): ClickSheet {
  const sheet = new ClickSheet()
  for (const click of clicks) sheet.addNew(click.org_id, click)
  return sheet
}
