/** Composes the call of a rule from the data of a conversion and its click. */
import { toUnits } from '../../contract/decimals.ts'
import { SUBS } from '../../contract/fields.ts'
import { toWireId } from '../../contract/ids.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import type { Outgoing } from '../deliveries/lane.ts'
import { MACRO } from './api.ts'
import { fillMacros, type PostbackMacroValues } from './macros.ts'

/** The macros with values from the click: columns of it. */
const CLICK_MACROS = ['ref_id', 'geo', ...SUBS] as const

/** The decimals of dollars in cents. */
const CENT_DECIMALS = 2

/** The columns of a click `c` for these macros. */
export const CLICK_MACRO_COLUMNS = CLICK_MACROS.map(name => `c.${name}`).join(', ')

/** The data of a conversion for macros. Ids as stored, the time in Unix seconds. */
export type PostbackConversion = Pick<PostbackMacroValues, (typeof CLICK_MACROS)[number]> & {
  readonly event_id: string
  readonly event_type: string
  readonly click_id: string
  readonly campaign_id: string | null
  readonly offer_id: string | null
  readonly timestamp: string
  /** The status as recorded, or of the reported revision. */
  readonly status: EventStatus
  /** The amount in dollars, a decimal string without trailing zeros. */
  readonly revenue: string
  /** The sender's nonce; null for Sluice's own conversions. */
  readonly txid: string | null
}

/** The column `revenue` for an SQL payout. Without a payout it is 0, as in reports. */
export const revenueColumn = (payout: string): string => `trim_scale(coalesce(${payout}, 0))::text as revenue`

// An event held at recording has its first revision at the same moment. The limit forces a lookup by primary key. `$1` is the organization, because
// Citus refuses a sub-select that takes it from a column while another one names it.
const STATUS_AS_RECORDED = `coalesce((
      select w.status from event_revisions w
      where w.org_id = $1 and w.event_id = e.id and w.seq = 1 and w.status = 'pending' and w.created_at = e.created_at
      limit 1), 'approved')`

/** The columns of a `PostbackConversion` from an event `e` of the organization `$1` and its click `c`, if that still exists, with SQL for amount and status. */
const conversionColumns = (
  amount: string,
  status: string,
) => `e.id as event_id, e.type as event_type, e.click_id, e.campaign_id, e.offer_id,
    extract(epoch from e.created_at)::bigint as timestamp, ${status} as status, ${revenueColumn(amount)}, e.nonce as txid, ${CLICK_MACRO_COLUMNS}`

export const CONVERSION_COLUMNS = conversionColumns('e.payout', STATUS_AS_RECORDED)

/** The same for a delivery, with amount and status of the revision `v` that it reports, if any. */
export const REVISION_COLUMNS = conversionColumns(
  "case when v.status is null then e.payout when v.status = 'approved' then v.amount else 0 end",
  `coalesce(v.status, ${STATUS_AS_RECORDED})`,
)

/** Whether the address has macros of the click, which would be empty without it. */
export function needsClick({ url }: Pick<RuleAddress, 'url'>): boolean {
  const named = Array.from(url.matchAll(MACRO), ([, name]) => name?.toLowerCase())
  return CLICK_MACROS.some(name => named.includes(name))
}

/** The reason for not reporting a conversion to its traffic source. */
export const NO_REF_ID = 'no_ref_id: the click came without a click id of its source'

/** Whether the rule belongs to a traffic source and the click has no click id of it, so that the call would have an empty one. */
export function lacksRefId(
  { traffic_source_id }: { readonly traffic_source_id: string | null },
  { ref_id }: Pick<PostbackConversion, 'ref_id'>,
): boolean {
  return traffic_source_id !== null && ref_id === null
}

export type RuleAddress = { readonly url: string; readonly method: 'GET' | 'POST' }

/** Composes the call; undefined if the address cannot be called. */
export function composeCall(
  { url: template, method }: RuleAddress,
  conversion: PostbackConversion,
): Outgoing | undefined {
  const { campaign_id, offer_id } = conversion
  const url = fillMacros(template, {
    ...conversion,
    event_id: toWireId(conversion.event_id),
    click_id: toWireId(conversion.click_id),
    campaign_id: campaign_id && toWireId(campaign_id),
    offer_id: offer_id && toWireId(offer_id),
    revenue_cents: String(toUnits(conversion.revenue, CENT_DECIMALS)),
    currency: 'USD',
  })
  return url === undefined ? undefined : callWith(method, url)
}

/** A POST also sends the parameters of its address as a form, because receivers of POST expect them in the body. */
function callWith(method: 'GET' | 'POST', url: string): Outgoing {
  if (method === 'GET') return { method, url }
  return {
    method,
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URL(url).search.slice(1),
  }
}
