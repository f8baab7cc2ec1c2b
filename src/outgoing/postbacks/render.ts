/** Fills a rule's address with what a conversion and its click know, and says how it is called. */
import { toUnits } from '../../contract/decimals.ts'
import { SUBS, type Sub } from '../../contract/fields.ts'
import { toWireId } from '../../contract/ids.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import type { Outgoing } from '../deliveries/lane.ts'
import { MACRO } from './api.ts'
import { fillMacros, type MacroValues } from './macros.ts'

type Subs = Pick<MacroValues, Sub>

/** The macros whose value only the click knows. */
const OF_CLICK = ['ref_id', 'geo', ...SUBS] as const

/** Decimals of a dollar in cents. */
const CENTS = 2

/** The columns of a click `c` that macros stand for. */
export const CLICK_COLUMNS = OF_CLICK.map(name => `c.${name}`).join(', ')

/** What a conversion `e` is to a macro; the ids as they are stored, the time in Unix seconds. */
export type Fired = Subs & {
  readonly event_id: string
  readonly event_type: string
  readonly click_id: string
  readonly campaign_id: string | null
  readonly offer_id: string | null
  readonly timestamp: string
  /** How it stands by what is told: as it was recorded, else by the revision. */
  readonly status: EventStatus
  /** The amount in dollars, a decimal string without trailing zeros. */
  readonly revenue: string
  /** The nonce its sender gave; Sluice's own conversions have none. */
  readonly txid: string | null
  readonly ref_id: string | null
  readonly geo: string | null
}

/** A conversion without a payout adds nothing to the reports' revenue, so nothing is what it is told to be worth. */
export const revenueOf = (payout: string): string => `trim_scale(coalesce(${payout}, 0))::text as revenue`

// What holds an event at once is written with it, at the same moment. One look by the primary key, which the limit keeps the planner to.
// $1 is the organization: Citus refuses a sub-select that takes it from a column, where another names it.
const STATUS_AS_RECORDED = `coalesce((
      select w.status from event_revisions w
      where w.org_id = $1 and w.event_id = e.id and w.seq = 1 and w.status = 'pending' and w.created_at = e.created_at
      limit 1), 'approved')`

/** Selects a `Fired` from events `e` of the organization `$1` and, where it is still there, their click `c`; `amount` is what they count for, `status` how they stand. */
const firedColumns = (
  amount: string,
  status: string,
) => `e.id as event_id, e.type as event_type, e.click_id, e.campaign_id, e.offer_id,
    extract(epoch from e.created_at)::bigint as timestamp, ${status} as status, ${revenueOf(amount)}, e.nonce as txid, ${CLICK_COLUMNS}`

export const FIRED_COLUMNS = firedColumns('e.payout', STATUS_AS_RECORDED)

/** The same of a delivery, with what the event counts for by the revision `v` that it tells of, where it tells of one. */
export const TOLD_COLUMNS = firedColumns(
  "case when v.status is null then e.payout when v.status = 'approved' then v.amount else 0 end",
  `coalesce(v.status, ${STATUS_AS_RECORDED})`,
)

/** Whether the address tells what only the click knows, however its macros are written: without it, nothing would be told in its place. */
export function needsClick({ url }: Pick<Callable, 'url'>): boolean {
  const named = Array.from(url.matchAll(MACRO), ([, name]) => name?.toLowerCase())
  return OF_CLICK.some(name => named.includes(name))
}

/** Why a traffic source is not told of a conversion. */
export const NO_REF_ID = 'no_ref_id: the click came without a click id of its source'

/** Whether a rule tells the traffic source of a click that the source has given no id: it could only be called with an empty one. */
export function lacksId(
  { traffic_source_id }: { readonly traffic_source_id: string | null },
  { ref_id }: Pick<Fired, 'ref_id'>,
): boolean {
  return traffic_source_id !== null && ref_id === null
}

export type Callable = { readonly url: string; readonly method: 'GET' | 'POST' }

/** The call; undefined where the address cannot be called. */
export function render({ url: template, method }: Callable, fired: Fired): Outgoing | undefined {
  const { campaign_id, offer_id } = fired
  const url = fillMacros(template, {
    ...fired,
    event_id: toWireId(fired.event_id),
    click_id: toWireId(fired.click_id),
    campaign_id: campaign_id && toWireId(campaign_id),
    offer_id: offer_id && toWireId(offer_id),
    revenue_cents: String(toUnits(fired.revenue, CENTS)),
    currency: 'USD',
  })
  return url === undefined ? undefined : callOf(method, url)
}

/** A POST sends the parameters of its address as a form as well: receivers of POST look for them in the body. */
function callOf(method: 'GET' | 'POST', url: string): Outgoing {
  if (method === 'GET') return { method, url }
  return {
    method,
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URL(url).search.slice(1),
  }
}
