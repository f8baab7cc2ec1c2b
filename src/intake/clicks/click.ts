// A new click, and its form as a parameter: a batch of clicks is one array of a composite type. Measured against one
// array per column, json and jsonb, this takes the least time of both processes, above all in small batches.
import type { AdId } from '../../contract/ad-platforms.ts'
import type { Sub } from '../../contract/fields.ts'
import type { Via } from '../../contract/page-visits.ts'
import { quotedField } from '../../ground/db/composites.ts'
import type { SharedLink } from '../../traffic/invite-links/grants.ts'

/** A page's report of a visit. `token` identifies it within its campaign, a uuid; `page` is without query and fragment. */
export type PageVisit = {
  readonly token: string
  /** ISO 8601. */
  readonly received_at: string
  readonly via: Via
  readonly page: string | null
  readonly site: string | null
  /** Why the click does not count; null if it does. */
  readonly untracked_reason: string | null
}

/** A click to be stored. Ids are uuids, `ip_hash` and `ip_encrypted` hexadecimal; texts hold neither U+0000 nor half a surrogate pair. */
export type Click = {
  org_id: number
  id: string
  campaign_id: string | null
  offer_id: string | null
  landing_id: string | null
  /** Whether it counts in reports: false for crawlers, link previews, prefetches and test clicks. */
  tracked: boolean
  test: boolean
  geo: string | null
  device: string | null
  os: string | null
  browser: string | null
  platform: string | null
  ref_id: string | null
  visitor_id: string | null
  visitor_is_new: boolean | null
  ip_hash: string | null
  ip_encrypted: string | null
  user_agent: string | null
  click_flow_node_path: string | null
  ad_account_id: string | null
  bot_id: string | null
  suppressed_delivery: boolean
  /** US dollars as a decimal string of up to 9 decimals. Null: the campaign has no cost model, or the cost could not be read. */
  cost: string | null
  /** The cost of one click as sent in the link, in `cost_currency`. */
  cost_original: string | null
  cost_currency: string | null
  /** Null: the campaign has no cost model. False: the cost counts once the click is tracked. */
  cost_counts: boolean | null
  /** The click's own invite link. */
  link_id: string | null
  /** `page`: a page reported the visit; null: a redirect. */
  way: 'page' | null
  /** The left-out value that the visitor has, such as `sub1=zone`; null for all others. */
  left_out: string | null
  /** The invite link it shares with other clicks of its campaign. Stored in a table of its own; older versions ignore it in a journal's line. */
  shared?: SharedLink
  /** What the page reported. Stored in a table of its own. */
  visit?: PageVisit
  /** True: its ad platform's click id may be that of a page visit. */
  isJoinable?: true
  /** Set when it is stored: the click that was there before and that it is. */
  joined_to?: string
} & { [name in Sub | AdId]: string | null }

type Column = Exclude<keyof Click, 'shared' | 'visit' | 'isJoinable' | 'joined_to'>

/** How a column is written in a composite value in an array: as it is, quoted, or as bytes. */
type Writing = 'plain' | 'text' | 'bytes'

/** The type of the parameter. */
export const NEW_CLICKS = 'new_click5[]'

/** The attributes of the type in their order. */
const WRITING = {
  org_id: 'plain',
  id: 'plain',
  campaign_id: 'plain',
  offer_id: 'plain',
  landing_id: 'plain',
  tracked: 'plain',
  test: 'plain',
  geo: 'text',
  device: 'text',
  os: 'text',
  browser: 'text',
  platform: 'text',
  ref_id: 'text',
  sub1: 'text',
  sub2: 'text',
  sub3: 'text',
  sub4: 'text',
  sub5: 'text',
  sub6: 'text',
  sub7: 'text',
  sub8: 'text',
  sub9: 'text',
  fbclid: 'text',
  gclid: 'text',
  gbraid: 'text',
  wbraid: 'text',
  ttclid: 'text',
  visitor_id: 'plain',
  visitor_is_new: 'plain',
  ip_hash: 'bytes',
  ip_encrypted: 'bytes',
  user_agent: 'text',
  click_flow_node_path: 'text',
  ad_account_id: 'plain',
  bot_id: 'plain',
  suppressed_delivery: 'plain',
  cost: 'plain',
  cost_original: 'plain',
  cost_currency: 'text',
  cost_counts: 'plain',
  link_id: 'plain',
  way: 'text',
  left_out: 'text',
} satisfies Record<Column, Writing>

/** The columns of a new click in the order of the type. */
export const CLICK_COLUMNS = Object.keys(WRITING) as Column[]
const writings = Object.entries(WRITING) as [Column, Writing][]

/** Clicks as one parameter. */
export function clicksLiteral(clicks: readonly Click[]): string {
  let out = '{'
  for (const click of clicks) {
    out += out === '{' ? '"(' : ',"('
    let next = ''
    for (const [column, writing] of writings) {
      const value = click[column]
      out += next
      next = ','
      // `==`, because a line of the journal may come from a version without the column.
      if (value == null) continue
      if (writing === 'plain') out += value
      else if (writing === 'text') out += quotedField(value as string)
      else out += `\\\\\\\\x${value}`
    }
    out += ')"'
  }
  return `${out}}`
}
