/** Where each found object is shown. */
import { linkOptions } from '@tanstack/react-router'
import type { findObjects } from '../../../people/find/api.ts'
import type { WireReply } from '../../../contract/endpoint.ts'
import { kindInWords } from '../../ground/history/words.ts'

export type Found = WireReply<typeof findObjects>['data'][number]
type Place = { readonly to: string }

/** Kinds with a page of their own. */
const PAGES: Partial<Record<Found['kind'], (id: string) => Place>> = {
  campaign: id => linkOptions({ to: '/campaigns/$id', params: { id } }),
  click_flow: id => linkOptions({ to: '/click-flows/$id', params: { id } }),
  traffic_source: id => linkOptions({ to: '/sources/$id', params: { id } }),
  network: id => linkOptions({ to: '/networks/$id', params: { id } }),
  domain: id => linkOptions({ to: '/settings/domains/$id', params: { id } }),
  bot: id => linkOptions({ to: '/bots/$id', params: { id } }),
  channel: id => linkOptions({ to: '/channels/$id', params: { id } }),
  subscriber: id => linkOptions({ to: '/subscribers/$id', params: { id } }),
  broadcast: id => linkOptions({ to: '/broadcasts/$id', params: { id } }),
  ad_account: id => linkOptions({ to: '/ad-accounts/$id', params: { id } }),
  spend_account: id => linkOptions({ to: '/ad-spend/accounts/$id', params: { id } }),
  api_key: id => linkOptions({ to: '/settings/api-keys/$id', params: { id } }),
  click: id => linkOptions({ to: '/clicks/$id', params: { id } }),
  event: q => linkOptions({ to: '/conversions', search: { q } }),
  tag: () => linkOptions({ to: '/settings/tags' }),
  member: () => linkOptions({ to: '/settings/team' }),
  invitation: () => linkOptions({ to: '/settings/team' }),
  rule: id => linkOptions({ to: '/automation/rules/$id', params: { id } }),
  postback: () => linkOptions({ to: '/postbacks', search: {} }),
  receiver: () => linkOptions({ to: '/automation/receivers' }),
}

/** Kinds whose list is narrowed by the name. */
const LISTS: Partial<Record<Found['kind'], (q: string) => Place>> = {
  offer: q => linkOptions({ to: '/offers', search: { q } }),
  landing: q => linkOptions({ to: '/landings', search: { q } }),
  funnel: q => linkOptions({ to: '/funnels', search: { q } }),
  person: q => linkOptions({ to: '/conversions', search: { q } }),
}

/** The page of an object; for a kind without one, its history. */
export function placeOf({ kind, id, name }: Found): Place {
  const place = LISTS[kind]?.(name) ?? PAGES[kind]?.(id)
  if (place !== undefined || kind === 'click' || kind === 'person') return place ?? linkOptions({ to: '/clicks' })
  return linkOptions({ to: '/history', search: { kind, id } })
}

const FOUND_BY: Partial<Record<Found['found_by'], string>> = {
  transaction_id: 'by transaction id',
  ref_id: 'by source click id',
  telegram_user_id: 'by Telegram user',
  id: 'by id',
}

/** The kind of an object, and by which id it was found. */
export function foundInWords({ kind, found_by }: Found): string {
  const word = kind === 'click' ? 'Click' : kind === 'person' ? 'Person' : kindInWords(kind)
  return [word, FOUND_BY[found_by]].filter(Boolean).join(', ')
}
