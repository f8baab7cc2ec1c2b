/**
 * How a change is put back: the calls of ordinary endpoints that write its earlier values, or why there are none. Values are in the form of the API,
 * and each endpoint reads them like any other body.
 */
import type { HistoryKind } from '../../contract/history.ts'
import { toWireId } from '../../contract/ids.ts'
import type { ObjectFields } from '../../ground/history/record.ts'
import { cellOfName } from '../../money/ad-spend/history.ts'
import { leftOutOfName } from '../../traffic/left-out/history.ts'
import { testOfName } from '../../traffic/test-ends/history.ts'
import { type Kept, PARTS, pick, type Restoring, words } from './parts.ts'
import type { NamedCall } from './perform.ts'
import type { StoredRow } from './rows.ts'

/** Fields that change along with others and need no call of their own. */
const FOLLOWING: Partial<Record<HistoryKind, readonly string[]>> = {
  postback: words('switched_off_at switched_off_reason'),
}

/** The endpoint that puts back a creation: it archives, or deletes where the kind has no archive. */
const UNMAKING: Partial<Record<HistoryKind, string>> = {
  campaign: 'setCampaignStatus',
  offer: 'setOfferStatus',
  landing: 'setLandingStatus',
  click_flow: 'setClickFlowStatus',
  funnel: 'deleteFunnel',
  traffic_source: 'deleteTrafficSource',
  postback: 'deletePostbackRule',
  network: 'deleteNetwork',
  cap: 'deleteCap',
  domain: 'deleteDomain',
  bot: 'deleteBot',
  channel: 'deleteChannel',
  broadcast: 'deleteBroadcast',
  ad_account: 'deleteAdAccount',
  spend_account: 'deleteSpendAccount',
  spread: 'takeBackSpread',
  view: 'deleteExploreView',
  event: 'reviseEvent',
  member: 'deleteMember',
  invitation: 'withdrawInvitation',
  api_key: 'revokeKey',
  tag: 'deleteTag',
  note: 'deleteNote',
  receiver: 'deleteReceiver',
  rule: 'deleteRule',
}

/** Why a deletion stays one. Kinds that are not here are restored. */
const GONE: Partial<Record<HistoryKind, string>> = {
  campaign: 'the address of a deleted campaign was given away in ads: create another one',
  domain: 'the name of a deleted domain is free for others: add the domain again',
  network: 'the postback URLs of a deleted network no longer work: create the network again',
  bot: 'the token and the webhook of a deleted bot were given back: add the bot again',
  channel: 'the links of a deleted channel were given up: add the channel again',
  ad_account: 'the credentials of a deleted account were destroyed: connect the account again',
  spend_account: 'the token of a deleted account was destroyed: connect the account again',
  subscriber: 'a person who was forgotten stays forgotten',
  member: 'only the person themselves can join again: invite them',
  invitation: 'the links of a withdrawn invitation no longer work: invite again',
  api_key: 'revoking a key is final: create another key',
  tag: 'the objects that had the deleted tag are not known any more: create it again',
  note: 'a deleted note is gone: write it again',
  receiver: 'the secret and the waiting messages of a deleted receiver are gone: create it again',
  rule: 'a deleted rule is gone: create it again',
  organization: 'an owner restores a deleted workspace on its own page',
}

/** Kinds whose deletion is taken back by their room, with the same id. */
export const RESTORABLE: ReadonlySet<HistoryKind> = new Set([
  'offer',
  'landing',
  'funnel',
  'click_flow',
  'traffic_source',
  'cap',
  'postback',
])

/** Why the change can never be put back; undefined if it can. */
export function whyNever({ kind, change, fields }: StoredRow): string | undefined {
  const secrets = fields.flatMap(field => ('is_secret' in field ? [field.name] : []))
  if (kind === 'subscriber') return GONE.subscriber
  if (change === 'deleted') return GONE[kind]
  if (change === 'created')
    return UNMAKING[kind] !== undefined || kind === 'ad_spend' || kind === 'left_out' || kind === 'rate'
      ? undefined
      : 'it cannot be unmade'
  if (
    kind === 'left_out' &&
    fields.some(field => field.name === 'let_in_share' && 'before' in field && field.before !== null)
  )
    return 'a part of its visitors was let in before: let all of them in instead'
  if (secrets.length > 0) return `the history holds no secrets, so ${secrets.join(', ')} cannot be put back`
  if (kind === 'ad_spend' || kind === 'left_out' || kind === 'split_test') return undefined
  const was = (name: string) => fields.find(field => field.name === name)
  const version = was('published_version')
  if (kind === 'click_flow' && version !== undefined && 'before' in version)
    return version.before === null ? 'a version that was published stays published: pause the click flow' : undefined
  const known = [...PARTS[kind].flatMap(part => part.fields), ...(FOLLOWING[kind] ?? [])]
  const unknown = fields.filter(({ name }) => !known.includes(name)).map(({ name }) => name)
  if (unknown.length > 0) return `${unknown.join(', ')} cannot be put back: ${UNWRITABLE[kind] ?? 'Sluice sets it'}`
  return undefined
}

/** The calls that give a split test its earlier winner, or let it go on, and that turn its switch back. */
function testCalls(params: ObjectFields, name: string, wanted: ObjectFields): NamedCall[] {
  const { of, test } = testOfName(name)
  const isOf = (field: string) => Object.hasOwn(wanted, field)
  const end = of === 'funnel' ? 'endFunnelTest' : 'endClickFlowTest'
  const turn = of === 'funnel' ? 'setFunnelTestAutomatic' : 'setClickFlowTestAutomatic'
  return [
    ...(isOf('winner') ? [{ endpoint: end, params, body: { test_id: test, ...pick(wanted, ['winner']) } }] : []),
    ...(isOf('automatic') ? [{ endpoint: turn, params, body: { test_id: test, ...pick(wanted, ['automatic']) } }] : []),
  ]
}

const UNWRITABLE: Partial<Record<HistoryKind, string>> = {
  billing: 'entries of the ledger stay, so enter an adjustment',
  broadcast: 'messages may have been sent',
  bot: 'set it on the page of the bot, because Telegram is asked for it',
  cap: 'a cap that was opened again stays open until its period ends',
}

/** The calls that put the change back. `now` is the object as it is; for a deleted one, as it was. Only for rows without `whyNever`. */
export function callsFor(row: StoredRow, now: ObjectFields): NamedCall[] {
  const { kind, change, object_id, object_name, fields } = row
  const params = object_id === null ? {} : { id: toWireId(object_id) }
  const wanted = Object.fromEntries(fields.flatMap(field => ('before' in field ? [[field.name, field.before]] : [])))
  if (kind === 'left_out') return leftOutCalls(row, { ...now, ...wanted })
  if (kind === 'split_test') return testCalls(params, object_name, wanted)
  if (kind === 'ad_spend') return [spendCall(params.id ?? '', object_name, wanted)]
  if (kind === 'rate' && change === 'created')
    return [
      {
        endpoint: 'setOwnRate',
        params: { currency: object_name },
        body: { from_day: now['from_day'], usd_per_unit: null },
      },
    ]
  if (change === 'created') {
    const endpoint = UNMAKING[kind] ?? ''
    if (kind === 'event') return [{ endpoint, params, body: { status: 'rejected', reason: 'undone' } }]
    return [{ endpoint, params, ...(endpoint.startsWith('set') ? { body: { status: 'archived' } } : {}) }]
  }
  if (change === 'deleted') return [makeAgain(kind, wanted)]
  const restoring: Restoring = { wanted, now, row }
  if (kind === 'click_flow' && 'published_version' in wanted) return publishAgain(params, restoring)
  if (kind === 'api_key' && wanted['grant'] === null) return [{ endpoint: 'revokeGrant', params }]
  return PARTS[kind as Exclude<HistoryKind, Kept>].flatMap(part => {
    const own = pick(wanted, part.fields)
    if (Object.keys(own).length === 0) return []
    const of = { ...restoring, wanted: own }
    return [{ endpoint: part.endpoint, params: part.params?.(of) ?? params, body: part.body(of) }]
  })
}

/** Lets a value in again that a change left out, or leaves it out again as it was. */
function leftOutCalls({ change, object_id, object_name }: StoredRow, was: ObjectFields): NamedCall[] {
  const params = { id: toWireId(object_id ?? '') }
  const { field, value } = leftOutOfName(object_name)
  const letIn = { endpoint: 'letIn', params, query: { field, value } }
  if (change === 'created') return [letIn]
  const body = { field, values: [value], ...pick(was, words('leads_to note until')) }
  return [...(change === 'changed' ? [letIn] : []), { endpoint: 'leaveOut', params, body }]
}

function spendCall(campaign_id: string, name: string, { amount, original }: ObjectFields): NamedCall {
  const { day, sub1 } = cellOfName(name)
  const { original_amount, currency } = (original ?? {}) as { original_amount?: string; currency?: string }
  const sent = original == null ? { amount } : { amount: original_amount, currency }
  return { endpoint: 'recordAdSpend', body: { campaign_id, day, sub1, ...sent, amount: sent.amount ?? null } }
}

/** Publishes an earlier version again as the newest one, and leaves the draft as it is. */
function publishAgain(params: ObjectFields, { wanted, now }: Restoring): NamedCall[] {
  const version = String(wanted['published_version'])
  const status = wanted['status']
  return [
    { endpoint: 'restoreClickFlowVersion', params: { ...params, version } },
    { endpoint: 'publishClickFlow', params },
    { endpoint: 'replaceClickFlow', params, body: pick(now, ['name', 'graph']) },
    ...(status === undefined ? [] : [{ endpoint: 'setClickFlowStatus', params, body: { status } }]),
  ]
}

/** The call that makes a deleted object again, with a new id. */
function makeAgain(kind: HistoryKind, was: ObjectFields): NamedCall {
  if (kind === 'view')
    return { endpoint: 'createExploreView', body: pick(was, words('name question screen is_shared is_start_page')) }
  if (kind === 'broadcast')
    return {
      endpoint: 'createBroadcast',
      body: pick(was, words('bot_id name message audience starts_at window per_second paid on_unknown')),
    }
  const { original_amount: amount = was['amount'], currency } = (was['original'] ?? {}) as ObjectFields
  const body = { ...pick(was, words('campaign_id from to sub1')), amount, currency, dry_run: false }
  return { endpoint: 'spreadAdSpend', body }
}
