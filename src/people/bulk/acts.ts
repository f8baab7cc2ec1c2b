/** The calls of ordinary endpoints that an act of many objects makes for one object. Values are in the form of the API. */
import { toWireId } from '../../contract/ids.ts'
import { nameOfCopy } from '../../contract/copies.ts'
import type { ObjectFields } from '../../ground/history/record.ts'
import type { NamedCall } from '../history/perform.ts'
import type { BulkAct } from './api.ts'

/** The kinds of objects that can be changed together. */
export type BulkKind =
  | 'campaign'
  | 'offer'
  | 'landing'
  | 'funnel'
  | 'click_flow'
  | 'traffic_source'
  | 'postback'
  | 'subscriber'

/** The calls for an object with these fields; none if it is as the act wants it already. */
type CallsFor = (fields: ObjectFields, act: BulkAct) => NamedCall[]
type ActType = BulkAct['type']

const pick = (from: ObjectFields, names: string): ObjectFields =>
  Object.fromEntries(names.split(' ').flatMap(name => (from[name] == null ? [] : [[name, from[name]]])))
const of = ({ id }: ObjectFields) => ({ params: { id } })

const STATUSES: Partial<Record<ActType, string>> = { pause: 'paused', resume: 'active', archive: 'archived' }

const byStatus =
  (endpoint: string): CallsFor =>
  (fields, { type }) =>
    fields['status'] === STATUSES[type] ? [] : [{ endpoint, ...of(fields), body: { status: STATUSES[type] } }]

const bySwitch =
  (active: boolean): CallsFor =>
  fields =>
    fields['active'] === active ? [] : [{ endpoint: 'updatePostbackRule', ...of(fields), body: { active } }]

/** A copy with another name, as *Clone* of a row makes it. */
const copy =
  (endpoint: string, names: string): CallsFor =>
  fields => {
    const named = typeof fields['name'] === 'string' ? { name: nameOfCopy(fields['name']) } : {}
    return [{ endpoint, body: { ...pick(fields, names), ...named } }]
  }

/** Writes fields of a campaign. An endpoint writes nothing if they are equal already. */
const setOf =
  (read: (act: BulkAct) => ObjectFields): CallsFor =>
  (fields, act) => [{ endpoint: 'updateCampaign', ...of(fields), body: read(act) }]

/** The two offers of the act, as the API writes their ids. */
const offersOf = (act: BulkAct): { from: string; to: string } =>
  act.type === 'replace_offer'
    ? { from: toWireId(act.from_offer_id), to: toWireId(act.to_offer_id) }
    : { from: '', to: '' }

/** The value with the new offer wherever a field of one of these names has the old one. */
function withOffer(value: unknown, names: readonly string[], { from, to }: { from: string; to: string }): unknown {
  if (Array.isArray(value)) return value.map(one => withOffer(one, names, { from, to }))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      names.includes(name) && inner === from ? to : withOffer(inner, names, { from, to }),
    ]),
  )
}

/** Writes the fields `written` of an object if its fields `changing` have the offer. `names` are the fields that name offers. */
const offerIn =
  (endpoint: string, names: readonly string[], changing: string, written = changing): CallsFor =>
  (fields, act) => {
    const before = pick(fields, changing)
    const after = withOffer(before, names, offersOf(act)) as ObjectFields
    if (JSON.stringify(before) === JSON.stringify(after)) return []
    return [{ endpoint, ...of(fields), body: sharesOnly({ ...pick(fields, written), ...after }) }]
  }

/** Members of a funnel without what the API adds to them. */
const sharesOnly = ({ offers, ...rest }: ObjectFields): ObjectFields =>
  Array.isArray(offers)
    ? { ...rest, offers: offers.map(({ offer_id, weight }: ObjectFields) => ({ offer_id, weight })) }
    : rest

const members = (fields: ObjectFields, name: string, id: string) =>
  ((fields[name] ?? []) as ObjectFields[]).map(one => ({ [id]: one[id], weight: one['weight'] }))

/** Puts a tag on an object, or takes it off. */
const byTag =
  (endpoint: string): CallsFor =>
  (fields, act) => {
    if (act.type !== 'tag' && act.type !== 'untag') return []
    const tag_id = toWireId(act.tag_id)
    const had = fields['tag_ids'] as string[]
    if (had.includes(tag_id) === (act.type === 'tag')) return []
    const tag_ids = act.type === 'tag' ? [...had, tag_id] : had.filter(id => id !== tag_id)
    return [{ endpoint, ...of(fields), body: { tag_ids } }]
  }

const tagged = (endpoint: string) => ({ tag: byTag(endpoint), untag: byTag(endpoint) })

const CAMPAIGN_FIELDS =
  'name destination offer_id fallback_url ad_account_id traffic_source_id domain_id source strict_filter cost goal sites browser_types'

/** What each kind of object knows, and how it is done. */
export const ACTS: Readonly<Record<BulkKind, Partial<Record<ActType, CallsFor>>>> = {
  campaign: {
    ...tagged('setCampaignTags'),
    pause: byStatus('setCampaignStatus'),
    resume: byStatus('setCampaignStatus'),
    archive: byStatus('setCampaignStatus'),
    clone: copy('createCampaign', CAMPAIGN_FIELDS),
    replace_offer: offerIn('updateCampaign', ['offer_id'], 'destination offer_id'),
    set_fallback: setOf(act => (act.type === 'set_fallback' ? { fallback_url: act.fallback_url } : {})),
    set_ad_account: setOf(act =>
      act.type === 'set_ad_account'
        ? { ad_account_id: act.ad_account_id === null ? null : toWireId(act.ad_account_id) }
        : {},
    ),
    set_cost: setOf(act => (act.type === 'set_cost' ? { cost: act.cost } : {})),
  },
  offer: {
    ...tagged('setOfferTags'),
    resume: byStatus('setOfferStatus'),
    archive: byStatus('setOfferStatus'),
    clone: copy('createOffer', 'name url payout payout_currency payout_types'),
  },
  landing: {
    ...tagged('setLandingTags'),
    resume: byStatus('setLandingStatus'),
    archive: byStatus('setLandingStatus'),
    clone: copy('createLanding', 'name url'),
  },
  funnel: {
    ...tagged('setFunnelTags'),
    clone: fields => [
      {
        endpoint: 'createFunnel',
        body: {
          name: nameOfCopy(String(fields['name'])),
          landings: members(fields, 'landings', 'landing_id'),
          offers: members(fields, 'offers', 'offer_id'),
        },
      },
    ],
    replace_offer: offerIn('updateFunnel', ['offer_id'], 'offers'),
  },
  click_flow: {
    ...tagged('setClickFlowTags'),
    pause: byStatus('setClickFlowStatus'),
    resume: byStatus('setClickFlowStatus'),
    archive: byStatus('setClickFlowStatus'),
    clone: copy('createClickFlow', 'name graph'),
    replace_offer: offerIn('replaceClickFlow', ['offer_id', 'earns_for_offer_id'], 'graph', 'name graph'),
  },
  traffic_source: {
    ...tagged('setTrafficSourceTags'),
    clone: copy('createTrafficSource', 'name parameters cost_unit cost_currency'),
  },
  postback: {
    pause: bySwitch(false),
    resume: bySwitch(true),
    clone: copy(
      'createPostbackRule',
      'event_type url method campaign_id traffic_source_id on preset active once_per_person',
    ),
  },
  subscriber: {},
}

/** Acts that leave archived objects alone. */
export const NOT_ON_ARCHIVED: ReadonlySet<ActType> = new Set([
  'pause',
  'replace_offer',
  'set_fallback',
  'set_ad_account',
  'set_cost',
])
