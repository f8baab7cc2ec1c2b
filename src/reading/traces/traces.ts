/**
 * Traces: everything that followed a click, read from the tables of other rooms. Owns no table. Each part is read by an index and cut, so that the
 * busiest click costs no more than a page.
 */
import { type Kysely, sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { AD_IDS } from '../../contract/ad-platforms.ts'
import { SUBS } from '../../contract/fields.ts'
import { timeOfId } from '../../contract/ids.ts'
import { LADDER, stageOf } from '../../contract/ladder.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { FIND_ALIAS } from '../../intake/clicks/found.ts'
import { untrackedReason } from '../../intake/clicks/untracked.ts'
import { leftOutOfMark } from '../../intake/clicks/left-out.ts'
import { PAUSED_PATH } from '../../intake/clicks/while-paused.ts'
import { IS_TEST, ORIGINAL } from '../../intake/events/events.ts'
import { historiesOf } from '../../intake/revisions/revisions.ts'
import { REFUSED_COLUMNS } from '../../intake/refused-events/refused-events.ts'
import { ATTEMPT_COLUMNS, droppedOf, withEvents } from '../../outgoing/deliveries/deliveries.ts'
import { clicksKeptFrom } from '../reports/kept.ts'
import { campaignsNamed } from '../../traffic/campaigns/names.ts'
import type * as api from './api.ts'

const MOST_EVENTS = 100
const MOST_DELIVERIES = 200
const MOST_REFUSED = 50
const MOST_ATTEMPTS = 1000

type Asking = { db: Kysely<Tables>; org_id: number }
type Reading = Asking & Pick<Context<typeof api.readTrace>, 'database'>

/** Refuses `object_not_found` where no row of the organization names this id. An id that leads to another click is answered with that one. */
export async function readTrace(
  { db, database, actor }: Context<typeof api.readTrace>,
  { params }: Call<typeof api.readTrace>,
): Promise<api.Trace> {
  const asking = { db, database, org_id: actor.org_id }
  const click_id = idOf(params.id)
  return (
    (await traceOf(asking, click_id)) ??
    (await traceOf(asking, await leadsTo(asking, click_id))) ??
    refuse('object_not_found')
  )
}

/** Where an id leads that was handed out for a click which was found to be another one; else the id itself. */
async function leadsTo({ database, org_id }: Reading, id: string): Promise<string> {
  const { rows } = await database.reads.query<{ click_id: string }>(FIND_ALIAS, [org_id, id])
  return rows[0]?.click_id ?? id
}

async function traceOf(asking: Reading, click_id: string): Promise<api.Trace | undefined> {
  const { database, org_id } = asking
  const [click, events, refused] = await Promise.all([
    clickOf(asking, click_id),
    eventsOf(asking, click_id),
    refusedOf(asking, click_id),
  ])
  if (click === null && events.length === 0 && refused.length === 0) return undefined
  const shownEvents = events.slice(0, MOST_EVENTS)
  const ids = shownEvents.map(({ id }) => id)
  const [campaigns, histories, persons, deliveries] = await Promise.all([
    campaignsNamed(database.reads, org_id, click === null ? [] : [click]),
    historiesOf(database.reads, org_id, ids),
    personsOf(asking, shownEvents),
    deliveriesOf(asking, ids),
  ])
  const isCut = events.length > MOST_EVENTS || deliveries.length > MOST_DELIVERIES || refused.length > MOST_REFUSED
  return {
    click_id,
    click,
    is_dropped: click === null && timeOfId(click_id) < (await clicksKeptFrom(database.reads)),
    campaigns,
    events: shownEvents.map(event => withHistory(event, histories.get(event.id) ?? [])),
    persons,
    deliveries: await withAttempts(asking, deliveries.slice(0, MOST_DELIVERIES)),
    refused: refused.slice(0, MOST_REFUSED),
    truncated: isCut,
  }
}

// ip_hash, user_agent and visitor_id are withheld; of ad platforms' click ids only the names are answered.
async function clickOf({ db, org_id }: Asking, id: string): Promise<api.TracedClick | null> {
  const row = await db
    .selectFrom('clicks')
    .select(['id', 'campaign_id', 'offer_id', 'landing_id', 'bot_id', 'click_flow_node_path', 'status', 'stages'])
    .select(['way', 'left_out', 'user_agent'])
    .select(['tracked', 'test', 'platform', 'geo', 'device', 'os', 'browser', 'ref_id', ...SUBS])
    .select(sql<string | null>`trim_scale(revenue)::text`.as('revenue'))
    .select(
      sql<string[]>`array_remove(array[${sql.join(
        AD_IDS.map(name => sql`case when ${sql.ref(name)} is not null then ${sql.lit(name)} end`),
      )}], null)`.as('ad_click_ids'),
    )
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return null
  const visit = await db
    .selectFrom('page_visits')
    .select(['page', 'untracked_reason'])
    .where('org_id', '=', org_id)
    .where('click_id', '=', id)
    .orderBy('received_at')
    .limit(1)
    .executeTakeFirst()
  const { click_flow_node_path: path, status, stages, user_agent: _, ...rest } = row
  const reached = LADDER.filter((_, rung) => (stages & stageOf(rung)) !== 0)
  return {
    ...rest,
    way: row.way === 'page' ? 'page' : 'redirect',
    is_left_out: row.left_out !== null,
    left_out: row.left_out === null ? null : leftOutOfMark(row.left_out),
    page: visit?.page ?? null,
    untracked_reason: untrackedReason(row, visit?.untracked_reason ?? null),
    path: path === PAUSED_PATH ? null : path,
    while_paused: path === PAUSED_PATH,
    created_at: new Date(timeOfId(id)).toISOString(),
    status: LADDER[status] ?? 'clicked',
    stages: reached,
  }
}

async function eventsOf({ db, org_id }: Asking, click_id: string): Promise<Recorded[]> {
  return await db
    .selectFrom('events as e')
    .leftJoin('ledger as l', join =>
      join
        .onRef('l.org_id', '=', 'e.org_id')
        .onRef('l.person_id', '=', 'e.person_id')
        .onRef('l.event_id', '=', 'e.id')
        .on('l.kind', '=', 'charge'),
    )
    .leftJoin('event_money as m', join => join.onRef('m.org_id', '=', 'e.org_id').onRef('m.event_id', '=', 'e.id'))
    .select(sql<api.TracedEvent['original']>`${sql.raw(ORIGINAL)}`.as('original'))
    .select(['e.id', 'e.created_at', 'e.click_id', 'e.campaign_id', 'e.offer_id', 'e.type', 'e.payout', 'e.nonce'])
    .select(['e.payload', 'e.source', 'e.claimed', 'e.person_id', 'l.amount as charge'])
    .select(sql<boolean>`${sql.raw(IS_TEST)}`.as('test'))
    .where('e.org_id', '=', org_id)
    .where('e.click_id', '=', click_id)
    .orderBy('e.created_at')
    .orderBy('e.id')
    .limit(MOST_EVENTS + 1)
    .$castTo<Recorded>()
    .execute()
}

type Recorded = Omit<api.TracedEvent, 'status' | 'amount' | 'revisions' | 'history'>

/** An event with its history; its last revision gives its status. */
function withHistory(event: Recorded, history: api.TracedEvent['history']): api.TracedEvent {
  const [last] = history
  const { status, amount } = last ?? { status: 'approved' as const, amount: event.payout ?? '0' }
  const charge = event.charge === null ? null : unsigned(event.charge)
  return { ...event, charge, status, amount, revisions: last?.seq ?? 0, history }
}

async function personsOf({ db, org_id }: Asking, events: readonly Recorded[]): Promise<api.TracedPerson[]> {
  const ids = [...new Set(events.map(({ person_id }) => person_id))]
  if (ids.length === 0) return []
  const here = new Set(events.map(({ id }) => id))
  const rows = await db
    .selectFrom('persons as p')
    .leftJoin('ledger as l', join =>
      join.onRef('l.org_id', '=', 'p.org_id').onRef('l.person_id', '=', 'p.id').on('l.kind', '=', 'charge'),
    )
    .select(['p.id', 'p.telegram_user_id', 'p.created_at', 'l.created_at as charged_at', 'l.amount', 'l.event_id'])
    .where('p.org_id', '=', org_id)
    .where('p.id', 'in', ids)
    .orderBy('p.created_at')
    .orderBy('p.id')
    .execute()
  return rows.map(({ amount, event_id, ...person }) => ({
    ...person,
    charge: amount === null ? null : unsigned(amount),
    charged_here: event_id !== null && here.has(event_id),
  }))
}

/** Charges are negative in the ledger and positive here. */
const unsigned = (amount: string): string => amount.replace('-', '')

type DeliveryRow = Omit<api.TracedDelivery, 'history' | 'attempts_dropped'>

// By event, with which the unique key of deliveries begins.
async function deliveriesOf({ db, org_id }: Asking, event_ids: readonly string[]): Promise<DeliveryRow[]> {
  if (event_ids.length === 0) return []
  return await withEvents(db, org_id)
    .where('d.event_id', 'in', event_ids)
    .orderBy('d.id')
    .limit(MOST_DELIVERIES + 1)
    .$castTo<DeliveryRow>()
    .execute()
}

async function withAttempts({ db, org_id }: Asking, deliveries: readonly DeliveryRow[]): Promise<api.TracedDelivery[]> {
  if (deliveries.length === 0) return []
  const ids = deliveries.map(({ id }) => id)
  const attempts = await db
    .selectFrom('delivery_attempts')
    .select(['delivery_id', ...ATTEMPT_COLUMNS])
    .where('org_id', '=', org_id)
    .where('delivery_id', 'in', ids)
    .orderBy('delivery_id')
    .orderBy('number')
    .limit(MOST_ATTEMPTS)
    .execute()
  const byDelivery = Map.groupBy(attempts, ({ delivery_id }) => delivery_id)
  // After the cut the log was not read, so its dropped attempts are unknown and answered as 0.
  const cutAt = attempts.length === MOST_ATTEMPTS ? attempts.at(-1)?.delivery_id : undefined
  return deliveries.map(delivery => {
    const history = (byDelivery.get(delivery.id) ?? []).map(({ delivery_id: _, ...attempt }) => attempt)
    const isRead = cutAt === undefined || delivery.id <= cutAt
    return { ...delivery, history, attempts_dropped: isRead ? droppedOf(delivery, history) : 0 }
  })
}

async function refusedOf({ db, org_id }: Asking, click_id: string): Promise<api.Trace['refused']> {
  return await db
    .selectFrom('refused_events')
    .select(REFUSED_COLUMNS)
    .where('org_id', '=', org_id)
    .where('click_id', '=', click_id)
    .orderBy('id', 'desc')
    .limit(MOST_REFUSED + 1)
    .$castTo<api.Trace['refused'][number]>()
    .execute()
}
