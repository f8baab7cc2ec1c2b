/** The endpoints that write the fields of each kind of object, and the bodies they take. Values are in the form of the API. */
import type { HistoryKind } from '../../contract/history.ts'
import type { ObjectFields } from '../../ground/history/record.ts'
import type { StoredRow } from './rows.ts'

/** What a call is made of: the fields to write, the object now, and the row. */
export type Restoring = { readonly wanted: ObjectFields; readonly now: ObjectFields; readonly row: StoredRow }

/** The endpoint that writes some fields. */
type Part = {
  readonly endpoint: string
  readonly fields: readonly string[]
  readonly body: (of: Restoring) => ObjectFields
  readonly params?: (of: Restoring) => ObjectFields
}

export const words = (text: string): string[] => text.split(' ')
export const pick = (from: ObjectFields, names: readonly string[]): ObjectFields =>
  Object.fromEntries(names.flatMap(name => (Object.hasOwn(from, name) ? [[name, from[name]]] : [])))

/** Writes the sent fields and leaves the others. */
const patch = (endpoint: string, names: string): Part => {
  const fields = words(names)
  return { endpoint, fields, body: ({ wanted }) => pick(wanted, fields) }
}
/** Replaces all of these fields. */
const whole = (endpoint: string, names: string): Part => {
  const fields = words(names)
  return { endpoint, fields, body: ({ wanted, now }) => pick({ ...now, ...wanted }, fields) }
}
const custom = (endpoint: string, names: string, body: Part['body'], params?: Part['params']): Part => ({
  endpoint,
  fields: words(names),
  body,
  ...(params === undefined ? {} : { params }),
})

/** Kinds whose changes are put back by calls of their own. */
export type Kept = 'subscriber' | 'ad_spend' | 'left_out' | 'split_test'
/** Tags and the note of an object have endpoints of their own. */
const labels = (name: string): Part[] => [patch(`set${name}Tags`, 'tag_ids'), patch(`set${name}Note`, 'note')]

/** The endpoints that write the fields of each kind. A field in none cannot be put back. */
export const PARTS: Readonly<Record<Exclude<HistoryKind, Kept>, readonly Part[]>> = {
  campaign: [
    patch(
      'updateCampaign',
      'name destination offer_id fallback_url ad_account_id traffic_source_id domain_id source strict_filter cost goal',
    ),
    patch('setCampaignStatus', 'status'),
    patch('setCampaignHours', 'open_hours'),
    ...labels('Campaign'),
  ],
  offer: [
    whole('replaceOffer', 'name url payout payout_currency payout_types'),
    patch('setOfferStatus', 'status'),
    patch('setOfferHours', 'open_hours'),
    ...labels('Offer'),
  ],
  landing: [whole('replaceLanding', 'name url'), patch('setLandingStatus', 'status'), ...labels('Landing')],
  funnel: [
    custom('updateFunnel', 'name landings offers', ({ wanted }) => ({
      ...wanted,
      ...sharesOf(wanted, 'landings', 'landing_id'),
      ...sharesOf(wanted, 'offers', 'offer_id'),
    })),
    ...labels('Funnel'),
  ],
  click_flow: [whole('replaceClickFlow', 'name graph'), patch('setClickFlowStatus', 'status'), ...labels('ClickFlow')],
  traffic_source: [patch('updateTrafficSource', 'name parameters cost_unit cost_currency'), ...labels('TrafficSource')],
  postback: [patch('updatePostbackRule', 'event_type url campaign_id on preset active once_per_person')],
  network: [
    patch(
      'updateNetwork',
      'name parameters statuses default_type unpaid_types currency convert amend hold_days ips active',
    ),
    ...labels('Network'),
  ],
  cap: [patch('updateCap', 'event_types limit period timezone then_offer_id when_unknown active')],
  domain: [patch('updateDomain', 'https root unknown_path robots is_default')],
  bot: [
    patch(
      'updateBot',
      'relay_types guard_hook welcome opt_out_words keep_names accept_payments stars_rate send_per_second',
    ),
  ],
  channel: [
    patch(
      'updateChannel',
      'join_mode on_request approve_after_s request_message link_days pool_min shared_joins leave_event leave_window_h',
    ),
  ],
  broadcast: [patch('updateBroadcast', 'name message audience starts_at window per_second paid on_unknown')],
  ad_account: [
    custom('updateAdAccount', 'name state settings event_map send_when restate', ({ wanted, now }) => ({
      platform: now['platform'],
      ...wanted,
    })),
  ],
  spend_account: [patch('updateSpendAccount', 'name id_in level campaign_id state')],
  spread: [],
  rate: [
    custom(
      'setOwnRate',
      'from_day usd_per_unit note',
      ({ wanted, now }) => ({ ...now, ...wanted }),
      ({ row }) => ({ currency: row.object_name }),
    ),
  ],
  event: [
    custom('reviseEvent', 'status amount', ({ wanted, now }) => {
      const { status, amount } = { ...now, ...wanted }
      return status === 'approved' || status === 'pending' ? { status, amount } : { status }
    }),
  ],
  event_settings: [whole('replaceEventSettings', 'names goal')],
  alert_settings: [whole('replaceAlertSettings', 'off fall')],
  view: [patch('updateExploreView', 'name question screen is_shared is_start_page')],
  organization: [
    patch('updateOrganization', 'name timezone'),
    custom('setReportingCurrency', 'reporting_currency', ({ wanted }) => ({
      currency: wanted['reporting_currency'] ?? 'USD',
    })),
    custom('requireSecondFactor', 'requires_second_factor', ({ wanted }) => ({
      required: wanted['requires_second_factor'],
    })),
  ],
  member: [patch('setMemberRole', 'role')],
  invitation: [],
  api_key: [
    patch('updateKey', 'expires_at ask_first'),
    custom('updateKey', 'state', ({ wanted }) => ({ enabled: wanted['state'] === 'accepted' })),
    custom('saveGrant', 'grant', ({ wanted }) => grantDraft(wanted['grant'] as Grant)),
  ],
  billing: [
    patch('setPrice', 'price_per_person'),
    patch('setHolding', 'hold_when_empty'),
    patch('setLowBalance', 'low_balance_threshold'),
  ],
  tag: [patch('updateTag', 'name color')],
  note: [patch('updateNote', 'day campaign_id text')],
  receiver: [patch('updateReceiver', 'name email bot_id chat_id about quiet_hours digest')],
  rule: [patch('updateRule', 'name active over value_of when window at_least then every at back stop_line')],
}

/** Members of a funnel without what the API adds to them. */
function sharesOf(fields: ObjectFields, name: string, id: string): ObjectFields {
  const members = fields[name]
  return Array.isArray(members) ? { [name]: members.map((one: ObjectFields) => pick(one, [id, 'weight'])) } : {}
}

type Grant = ObjectFields & { organization: { id: string } | null; campaigns: readonly { id: string }[] | null }

const grantDraft = ({ organization, campaigns, ...rights }: Grant): ObjectFields => ({
  ...rights,
  organization_id: organization?.id,
  campaigns: campaigns?.map(({ id }) => id) ?? null,
})
