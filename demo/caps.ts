// The demo's caps: a reached daily cap on registrations, with another offer taking over; a monthly cap on leads; and open hours.
import { sql, type Transaction } from 'kysely'
import { newId } from '../src/contract/ids.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import { recountCap } from '../src/traffic/caps/recount.ts'
import type { Workspace } from './placing.ts'
import { OFFERS, type OfferName } from './world.ts'

type Trx = Transaction<Tables>
type CapTerms = Pick<Workspace, 'offers'> & { org_id: number; now: number; founded: number }

/** Inserts them, with limits by the books. Returns the ids that affect traffic. */
export async function placeCaps(trx: Trx, terms: CapTerms): Promise<string[]> {
  const { org_id, offers } = terms
  const idOf = (name: OfferName) => [...offers].find(([, offer]) => offer === OFFERS[name])?.[0] ?? ''
  const ids = [
    // Two fewer than today's, so that the last ones are over it.
    await capOn(trx, terms, idOf('dating'), {
      event_types: ['registration'],
      period: 'day',
      limitOf: used => Math.max(1, used - 2),
      then_offer_id: idOf('flirt'),
    }),
    await capOn(trx, terms, idOf('keto'), {
      event_types: ['lead'],
      period: 'month',
      limitOf: used => Math.ceil((used * 1.6) / 50) * 50 + 50,
      then_offer_id: null,
    }),
  ]
  const vpn = idOf('vpn')
  const week = Array.from({ length: 7 }, () => '0'.repeat(12) + '1'.repeat(36))
  await trx
    .insertInto('open_hours')
    .values({ org_id, object_id: vpn, timezone: 'Europe/Berlin', week, updated_at: new Date(terms.now).toISOString() })
    .execute()
  return [...ids, vpn]
}

type CapSeed = {
  event_types: ['registration'] | ['lead']
  period: 'day' | 'month'
  limitOf: (used: number) => number
  then_offer_id: string | null
}

async function capOn(
  trx: Trx,
  { org_id, now, founded }: CapTerms,
  object_id: string,
  { event_types, period, limitOf, then_offer_id }: CapSeed,
): Promise<string> {
  const at = new Date(now).toISOString()
  const start = period === 'day' ? at.slice(0, 10) : `${at.slice(0, 7)}-01`
  const { rows } = await sql<{ used: number }>`
    select count(*)::int as used from events
    where org_id = ${org_id} and offer_id = ${object_id} and type = any(${event_types}) and not test
      and created_at >= ${start}::date`.execute(trx)
  const cap = {
    id: newId(now),
    object: 'offer' as const,
    object_id,
    metric: 'conversions' as const,
    event_types,
    limit: limitOf(rows[0]?.used ?? 0),
    period,
    timezone: 'UTC',
    active: true,
    created_at: new Date(founded).toISOString(),
  }
  await trx
    .insertInto('caps')
    .values({ ...cap, org_id, then_offer_id, when_unknown: 'closed', updated_at: at })
    .execute()
  await recountCap(trx, org_id, cap, { now: at, earlier: { used: 0, until: at, key: '' }, hasNewLimit: true })
  return cap.id
}
