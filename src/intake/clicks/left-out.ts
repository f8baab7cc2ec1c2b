// Whether a visit has a left-out value of its campaign. Campaigns without a list cost a look-up, those with one a look-up for each field of it.
import { SUBS } from '../../contract/fields.ts'
import { weekClock } from '../../contract/time-zones.ts'
import { mixBits, stableHashOf } from '../../ground/stable-hash.ts'
import type { LiveCampaigns, LiveLeftOut } from '../../traffic/campaigns/live.ts'
import { creativeSub, isInForce } from '../../traffic/left-out/fields.ts'
import type { CompiledCampaign, Guest } from './course.ts'

/** What a click stores of the left-out value by which its visitor was left out. */
const markOf = (field: string, value: string): string => `${field}=${value}`

/** The left-out value in the mark of a click. */
export function leftOutOfMark(mark: string): { field: string; value: string } {
  const at = mark.indexOf('=')
  return { field: mark.slice(0, at), value: mark.slice(at + 1) }
}

/** A left-out value that a visit has: the mark that its click stores, and the offer it leads to (null: the fallback). */
export type LeftOut = { readonly mark: string; readonly offer_id: string | null }

type Entry = {
  readonly offer_id: string | null
  readonly until_ms: number | null
  readonly let_in_share: number | null
}
/** The values of each field of a list. */
type Compiled = ReadonlyMap<string, ReadonlyMap<string, Entry>>

const compiledLists = new WeakMap<LiveLeftOut, Compiled>()

function compiledList(list: LiveLeftOut): Compiled {
  const known = compiledLists.get(list)
  if (known !== undefined) return known
  const fields = new Map<string, Map<string, Entry>>()
  for (const [field, value, offer_id, until_ms, let_in_share] of list.entries) {
    const values = fields.get(field) ?? new Map<string, Entry>()
    fields.set(field, values.set(value, { offer_id, until_ms, let_in_share }))
  }
  compiledLists.set(list, fields)
  return fields
}

/** The left-out value of a visit, if it has one whose time is not over. Each field is looked up in the order in which it first came on the list. */
export function leftOutOf(
  traffic: CompiledCampaign,
  live: Pick<LiveCampaigns, 'object'>,
  guest: Guest,
): LeftOut | undefined {
  const list = live.object('left_out', traffic.campaign.id)
  if (list === undefined || list.entries.length === 0) return undefined
  for (const [field, values] of compiledList(list)) {
    const value = valueOf(field, traffic, list, guest)
    const found = value === null ? undefined : values.get(value)
    if (value === null || found === undefined || !isInForce(found.until_ms, guest.ms)) continue
    if (found.let_in_share !== null && placeOf(guest.visitor_key, value) < found.let_in_share) continue
    return { mark: markOf(field, value), offer_id: found.offer_id }
  }
  return undefined
}

/** A place from 0 to 1 that is the same for each visit of a visitor. */
const placeOf = (visitor_key: string, value: string): number =>
  mixBits(stableHashOf(value, stableHashOf(visitor_key))) / 2 ** 32

function valueOf(
  field: string,
  { source }: CompiledCampaign,
  { timezone }: LiveLeftOut,
  { parameters, agent, geo, ms }: Guest,
): string | null {
  if (field === 'geo') return geo
  if (field === 'device' || field === 'os' || field === 'browser') return agent[field]
  if (field === 'hour') return hourOf(timezone, ms)
  const sub = field === 'creative' ? creativeSub(source?.parameters ?? []) : SUBS.find(name => name === field)
  return sub === undefined ? null : parameters[sub]
}

/** The hour in the workspace's zone, 00 to 23. */
const hourOf = (timezone: string, ms: number): string =>
  String(Math.floor(weekClock(timezone, ms).minute / 60)).padStart(2, '0')
