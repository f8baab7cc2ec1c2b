/** The statement of a page of the click feed. */
import type { z } from 'zod'
import { SUBS } from '../../contract/fields.ts'
import { firstIdAt, toUuid, toWireId } from '../../contract/ids.ts'
import type { sought } from '../../contract/sought.ts'
import type { Window } from '../../contract/window.ts'
import type { Statement, Value } from '../../ground/db/statement.ts'
import { reportedBy } from '../../intake/events/log.ts'
import { SOUGHT, type Sought } from './days.ts'

/** The filters of signed-in people beyond those of keys. */
export type MoreFilters = z.output<z.ZodObject<typeof sought>>

/**
 * A page's filters. `before` is the last id of the previous page; `campaigns` null means all. `stretches` are the parts of the window to read; if
 * omitted, the whole window is read.
 */
export type FeedPage = Sought & {
  readonly window: Window
  readonly stretches?: readonly Window[]
  readonly campaigns: readonly string[] | null
  readonly status: number | undefined
  readonly tracked: boolean | undefined
  readonly more?: MoreFilters
  readonly before: string | undefined
  readonly limit: number
}

export const AS_THEY_ARE = ['geo', 'device', 'os', 'browser', 'ref_id', ...SUBS] as const
const COLUMNS = `id, campaign_id, status, tracked, offer_id, ${AS_THEY_ARE.join(', ')}, trim_scale(revenue)::text as revenue`

/**
 * The statement of a page: `limit` rows and one more. Several campaigns are read one by one and merged, because the index is in order only within a
 * campaign. Several stretches are too, which skips the days between them.
 */
export function feedStatement(org_id: number, page: FeedPage): Statement {
  const { window, stretches = [window], campaigns, status, tracked, more, before, limit } = page
  const values: Value[] = [org_id]
  const put = (value: Value) => `$${values.push(value)}`
  // The redundant second condition lets the planner use the index of stages, which leaves out clicks of the first stage.
  const byStatus =
    status === undefined ? '' : ` and status = ${put(status)}::smallint${status > 0 ? ' and status > 0' : ''}`
  const byTracked = tracked === undefined ? '' : tracked ? ' and tracked' : ' and not tracked'
  const bySought = SOUGHT.map(column => {
    const value = page[column]
    if (value === undefined) return ''
    return value === null ? ` and ${column} is null` : ` and ${column} = ${put(value)}::text`
  }).join('')
  const narrowed = more === undefined ? '' : narrowing(more, put)
  const most = put(limit + 1)
  const conditions = `${byStatus}${byTracked}${bySought}${narrowed}`
  if (more?.type !== undefined || more?.network_id !== undefined) {
    const behind = firstIdAt(window.to + 1)
    const [first, end] = [put(firstIdAt(window.from)), put(before === undefined || behind < before ? behind : before)]
    const inCampaigns = campaigns === null ? '' : ` and campaign_id = any(${put(campaigns)}::uuid[])`
    const click = `select ${COLUMNS} from clicks where org_id = $1${inCampaigns}${conditions}`
    const range = `click_id >= ${first}::uuid and click_id < ${end}::uuid`
    return { text: throughConversions(more, put, range, click, `id desc limit ${most}`), values }
  }
  const firsts = stretches.map(({ from }) => firstIdAt(from))
  const ends = stretches
    .map(({ to }) => firstIdAt(to + 1))
    .map(end => (before === undefined || end < before ? end : before))
  const isOne = firsts.length === 1
  const range = isOne
    ? `id >= ${put(firsts[0] as string)}::uuid and id < ${put(ends[0] as string)}::uuid`
    : 'id >= stretch.first and id < stretch.behind'
  const among = isOne ? [] : [`unnest(${put(firsts)}::uuid[], ${put(ends)}::uuid[]) as stretch (first, behind)`]
  const newest = `order by id desc limit ${most}`
  const walk = (campaign: string) =>
    `select ${COLUMNS} from clicks where org_id = $1 and ${range}${campaign}${conditions} ${newest}`
  let walked = walk('')
  if (campaigns?.length === 1) walked = walk(` and campaign_id = ${put(campaigns[0] as string)}::uuid`)
  if (campaigns !== null && campaigns.length > 1) {
    walked = walk(' and campaign_id = allowed.campaign')
    among.push(`unnest(${put(campaigns)}::uuid[]) as allowed (campaign)`)
  }
  if (among.length === 0) return { text: walked, values }
  const text = `select walked.* from ${among.join(' cross join ')} cross join lateral (${walked}) as walked ${newest}`
  return { text, values }
}

type Put = (value: Value) => string

/**
 * Clicks by their conversions: the conversions are read in the order of their clicks, and each click is looked up by its key. So a page of rare
 * conversions does not read all clicks.
 */
function throughConversions(
  { type, network_id }: MoreFilters,
  put: Put,
  range: string,
  click: string,
  newest: string,
): string {
  const byType = type === undefined ? '' : ` and e.type = ${put(type)}::text`
  const byNetwork = network_id === undefined ? '' : ` and ${reportedBy(put(toWireId(network_id)))}`
  return `select walked.* from (
      select distinct click_id as id from events e where e.org_id = $1 and ${range}${byType}${byNetwork} order by click_id desc
    ) converted cross join lateral (${click} and id = converted.id limit 1) walked order by converted.${newest}`
}

/** The conditions of more filters on the click itself. */
function narrowing(more: MoreFilters, put: Put): string {
  const { q, traffic_source_id, offer_id, landing_id, tag_id, payout_from, payout_to } = more
  const conditions: string[] = []
  if (q) {
    const text = `${put(q)}::text`
    conditions.push(`id = any(array(
      select found.id from clicks found where found.org_id = $1 and found.ref_id = ${text}
      union all select click_id from events where org_id = $1 and nonce = ${text}
      union all select ${put(toUuid(q) ?? null)}::uuid))`)
  }
  if (offer_id !== undefined) conditions.push(`offer_id = ${put(offer_id)}::uuid`)
  if (landing_id !== undefined) conditions.push(`landing_id = ${put(landing_id)}::uuid`)
  if (traffic_source_id !== undefined)
    conditions.push(
      `campaign_id in (select id from campaigns where org_id = $1 and traffic_source_id = ${put(traffic_source_id)}::uuid)`,
    )
  if (tag_id !== undefined) {
    const tag = put(tag_id)
    const tagged = (table: string) => `(select id from ${table} where org_id = $1 and tag_ids @> array[${tag}]::uuid[])`
    conditions.push(
      `(campaign_id in ${tagged('campaigns')} or offer_id in ${tagged('offers')} or landing_id in ${tagged('landings')})`,
    )
  }
  if (payout_from !== undefined) conditions.push(`revenue >= ${put(payout_from)}::numeric`)
  if (payout_to !== undefined) conditions.push(`revenue <= ${put(payout_to)}::numeric`)
  return conditions.map(condition => ` and ${condition}`).join('')
}
