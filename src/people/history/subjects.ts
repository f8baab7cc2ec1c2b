/**
 * The objects of the history as they are read before and after a write: by the endpoint that answers with them, as an owner of the workspace. So the
 * fields and their form are those of the API. Left out: what is counted, what follows from other fields or objects, and what Sluice finds out itself.
 */
import { sql } from 'kysely'
import { z } from 'zod'
import type { Access, Role } from '../../contract/endpoint.ts'
import type { HistoryKind } from '../../contract/history.ts'
import { NIL_ID, toUuid, toWireId } from '../../contract/ids.ts'
import { Refusal } from '../../contract/refusals.ts'
import { type ObjectFields, type HistoryObject, objectKey, type ObjectSnapshot } from '../../ground/history/record.ts'
import type { Furnished } from '../../ground/room.ts'
import { ruleName } from '../../outgoing/postbacks/rule-name.ts'
import { READ_TOGETHER, readOther } from './other-subjects.ts'
import type { Reading } from './reading.ts'
import { readSecrets, type SecretsOf } from './secrets.ts'

type Ask = (name: string, call?: { params?: object; query?: object }) => Promise<ObjectFields | undefined>
type Read = (ask: Ask, id: string, reading: Reading) => Promise<ObjectFields | undefined>

type Subject = {
  /** The endpoint that answers with it, whose role may see it. */
  readonly by: string
  readonly read: Read
  readonly name: (fields: ObjectFields) => string
  readonly without: readonly string[]
  readonly secrets?: SecretsOf
  /** The person whose own object it is. */
  readonly onlyFor?: (fields: ObjectFields, reading: Reading) => string | null
}

/** Objects that an endpoint answers with by their id. */
const one = (by: string, without = '', rest: Partial<Subject> = {}): Subject => ({
  by,
  read: (ask, id) => ask(by, { params: { id: toWireId(id) } }),
  name: ({ name }) => text(name),
  without: ['updated_at', ...without.split(' ')],
  ...rest,
})

/** Objects that are only listed: all on one page, or newest first from the id on. */
const listed = (by: string, without = '', rest: Partial<Subject> = {}): Subject =>
  one(by, without, {
    async read(ask, id) {
      const page = (await ask(by, { query: { limit: 1, cursor: idAfter(id) } }))?.['data']
      return (page as ObjectFields[] | undefined)?.find(row => row['id'] === toWireId(id))
    },
    ...rest,
  })

const idAfter = (id: string): string => {
  const hex = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** An offer or a campaign with its open hours, which have endpoints of their own. */
const withHours =
  (by: string, hours: string): Read =>
  async (ask, id) => {
    const params = { id: toWireId(id) }
    const fields = await ask(by, { params })
    return fields && { ...fields, open_hours: (await ask(hours, { params }))?.['open_hours'] ?? null }
  }

const ofWorkspace = (by: string, without = '', rest: Partial<Subject> = {}): Subject =>
  one(by, without, { read: ask => ask(by), name: () => '', ...rest })

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const day = (at: unknown): string => text(at).slice(0, 10)

const SUBJECTS: Record<
  Exclude<HistoryKind, 'ad_spend' | 'left_out' | 'rate' | 'split_test' | 'subscriber'>,
  Subject
> = {
  campaign: one('readCampaign', 'url filled_url unknown_macros warnings', {
    read: withHours('readCampaign', 'readCampaignHours'),
  }),
  offer: one('readOffer', 'unknown_macros campaigns', { read: withHours('readOffer', 'readOfferHours') }),
  landing: one('readLanding', 'unknown_macros'),
  funnel: one('readFunnel'),
  click_flow: one('readClickFlow', 'is_draft_published campaigns draft_tag problems'),
  traffic_source: one('readTrafficSource', 'postback campaigns'),
  postback: one('readPostbackRule', 'unknown_macros', {
    name: ({ event_type, url }) => ruleName({ event_type: text(event_type), url: text(url) }),
  }),
  network: one('readNetwork', 'postback_url token_withheld offer_parameter waiting last_received_at', {
    secrets: readSecrets.network,
  }),
  cap: listed('listCaps', 'object_name state used reserved over_by reached_at counted_from resets_at', {
    name: ({ object_name }) => text(object_name),
  }),
  domain: one('readDomain', 'unicode_name status records check certificate flagged campaigns last_visit_at proven_at'),
  bot: one(
    'readBot',
    'link hook_state hook_error hook_host hook_checked_at pending_updates last_error former_host guarded_at token_state unanswered_payments stars_looked_at silent_until send_after last_update_at',
    { name: ({ username }) => `@${text(username)}`, secrets: readSecrets.bot },
  ),
  channel: one('readChannel', 'is_public state state_reason member_count pool checked_at', {
    name: ({ title }) => text(title),
  }),
  broadcast: one('readBroadcast', 'message_fault recipients counts pace afterwards started_at ended_at pause_reason'),
  ad_account: one('readAdAccount', 'credential_hint state_reason state_changed_at', {
    secrets: readSecrets.ad_account,
  }),
  spend_account: one(
    'readSpendAccount',
    'token_hint timezone currency synced_at next_sync_at is_syncing fault last_30_days unmatched days',
    { secrets: readSecrets.spend_account, name: ({ name, external_id }) => text(name) || text(external_id) },
  ),
  spread: listed('listSpreads', 'counting taken_back_at taken_back_by', {
    async read(ask, id) {
      const page = (await ask('listSpreads', { query: { limit: 1, cursor: idAfter(id) } }))?.['data']
      return (page as ObjectFields[] | undefined)?.find(
        row => row['id'] === toWireId(id) && row['taken_back_at'] === null,
      )
    },
    name: ({ from, to }) => `${day(from)} to ${day(to)}`,
  }),
  event: one('listRevisions'),
  event_settings: ofWorkspace('readEventSettings', 'updated_by', { name: () => 'Event settings' }),
  alert_settings: ofWorkspace('readAlertSettings', '', { name: () => 'Alert settings' }),
  view: listed('listExploreViews', 'is_own saved_by', {
    onlyFor: ({ is_shared }, { user_id }) => (is_shared === true ? null : user_id),
  }),
  organization: listed('listOrganizations', 'role active', {
    async read(ask, id) {
      const found = await listed('listOrganizations').read(ask, id, {} as Reading)
      return found?.['deleted_at'] === null ? found : undefined
    },
  }),
  member: listed('listMembers', 'image has_second_factor is_you'),
  invitation: listed('listInvitations', 'state has_link', {
    name: ({ email }) => text(email),
    secrets: async () => ({ link: '' }),
  }),
  api_key: listed('listKeys', 'last_used_at permission_state organization is_yours', {
    read: readKey,
    secrets: async () => ({ secret: '' }),
    onlyFor: ({ owner }) => toUuid((owner as { user_id: string }).user_id) ?? null,
  }),
  tag: one('readTag'),
  // Members read the history, and may see only the host of an address.
  receiver: one('readReceiver', 'url state last_error', { secrets: readSecrets.receiver }),
  note: one('readNote', '', { name: ({ day: of }) => text(of) }),
  rule: one('readRule', 'version state waits_for next_check_at'),
  billing: ofWorkspace('readBilling', '', { read: readBilling, name: () => 'Billing' }),
}

/** A key with its grant; a revoked one is gone. A grant in another workspace is none here, because its names belong to that one. */
async function readKey(ask: Ask, id: string, { organization_id }: Reading): Promise<ObjectFields | undefined> {
  const key = await listed('listKeys').read(ask, id, {} as Reading)
  if (key === undefined || key['state'] === 'revoked') return undefined
  const grant = await ask('readGrant', { params: { id: toWireId(id) } })
  if (grant === undefined) return key
  const { state: _, saved_at, ...rights } = grant
  const of = (rights['organization'] as { id: string } | null)?.id ?? null
  const isElsewhere = of !== null && of !== toWireId(organization_id)
  return { ...key, grant: saved_at === null || isElsewhere ? null : rights }
}

/** Inside of a write it locks the balance, so that no conversion is charged between the two readings. */
async function readBilling(_ask: Ask, _id: string, { db, org_id }: Reading): Promise<ObjectFields | undefined> {
  const { rows } = await sql<ObjectFields>`
    select balance, price_per_person, hold_when_empty, low_balance_threshold from balances
    where org_id = ${org_id} ${db.isTransaction ? sql`for update` : sql``}`.execute(db)
  return rows[0]
}

/** Opens the reading of objects by the endpoints of all rooms. */
export function openSubjects(furnished: readonly Furnished[]) {
  const byName = new Map(furnished.map(each => [each.name, each]))
  const named = (name: string): Furnished => {
    const found = byName.get(name)
    if (found === undefined) throw new Error(`the history reads by ${name}, which is no endpoint`)
    return found
  }
  for (const { by } of Object.values(SUBJECTS)) named(by)

  /** The answer of an endpoint to an owner; undefined if it has no such object. */
  const asker =
    (reading: Reading): Ask =>
    async (name, { params = {}, query = {} } = {}) => {
      const { endpoint, deed } = named(name)
      try {
        const reply = await (deed as Deed)(asOwner(reading), { params, query, body: undefined })
        return JSON.parse(JSON.stringify(z.encode(endpoint.reply as z.ZodType, reply))) as ObjectFields
      } catch (error) {
        if (error instanceof Refusal && error.status === 404) return undefined
        throw error
      }
    }

  async function readSingle(reading: Reading, object: HistoryObject): Promise<ObjectSnapshot | undefined> {
    const subject = subjectOf(object.kind)
    if (subject === undefined) return await readOther(reading, object)
    const id = object.id ?? NIL_ID
    const read = await subject.read(asker(reading), id, reading)
    if (read === undefined) return undefined
    const fields = Object.fromEntries(Object.entries(read).filter(([name]) => !subject.without.includes(name)))
    const secrets = (await subject.secrets?.(reading, id)) ?? {}
    return { name: subject.name(read), fields, secrets, only_for: subject.onlyFor?.(read, reading) ?? null }
  }

  /** The objects as they are in the transaction, by their keys; undefined for those that there are not. */
  async function readAll(reading: Reading, objects: readonly HistoryObject[]): Promise<Snapshots> {
    const found = new Map<string, ObjectSnapshot | undefined>()
    for (const [kind, ofKind] of Map.groupBy(objects, object => object.kind)) {
      const together = await READ_TOGETHER[kind]?.(reading, ofKind)
      for (const object of ofKind)
        found.set(objectKey(object), together === undefined ? await readSingle(reading, object) : together(object))
    }
    return found
  }

  return {
    readAll,
    /** The role that the kind's own endpoint asks for. */
    roleFor: (kind: HistoryKind): Role => roleOf(named(subjectOf(kind)?.by ?? 'readOffer').endpoint.access),
    /** The object as it is in the transaction; undefined if there is none. */
    async read(reading: Reading, object: HistoryObject): Promise<ObjectSnapshot | undefined> {
      return (await readAll(reading, [object])).get(objectKey(object))
    },
  }
}
type Snapshots = ReadonlyMap<string, ObjectSnapshot | undefined>
export type Subjects = ReturnType<typeof openSubjects>

type Deed = (context: object, call: object) => unknown

const subjectOf = (kind: HistoryKind): Subject | undefined => (SUBJECTS as Partial<Record<HistoryKind, Subject>>)[kind]

const roleOf = (access: Access): Role =>
  access === 'anyone' || access.session === undefined || access.session === 'person' ? 'member' : access.session

const asOwner = ({ org_id, organization_id, user_id, session_id, ...ground }: Reading) => ({
  ...ground,
  actor: { kind: 'member', role: 'owner', org_id, organization_id, user_id, session_id, email: '', name: '' },
  origin: undefined,
})
