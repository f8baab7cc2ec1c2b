/**
 * Networks: affiliate networks that report conversions by postback. The token in the postback URL is their only credential. Owns `networks`
 * and `network_tokens`. A token can only report conversions of its organization. It is stored encrypted, so that its URL can be shown
 * again, and found by its hash. Deletion is soft, because events and refused events refer to their network.
 */
import { type Kysely, sql, type Transaction, type Updateable } from 'kysely'
import { USD } from '../../contract/currencies.ts'
import { HOUR_MS } from '../../contract/days.ts'
import type { Call, Role } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import { hasTag, noteDeed, tagsDeed } from '../../ground/db/labels.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, type Ground, idOf } from '../../ground/room.ts'
import { wantRates } from '../../money/rates/wanted.ts'
import type * as api from './api.ts'
import { faultOfIps } from './ips.ts'
import type { NetworkMaps } from './read-call.ts'
import { TEMPLATES, type NetworkTemplate } from './templates.ts'
import { hashToken, newToken } from './token.ts'

const COLUMNS = [
  'id',
  'name',
  'template',
  'parameters',
  'statuses',
  'default_type',
  'unpaid_types',
  'currency',
  'convert',
  'amend',
  'hold_days',
  'ips',
  'token',
  'active',
  'last_received_at',
  'tag_ids',
  'note',
  'created_at',
  'updated_at',
] as const

type NetworkRow = Omit<api.Network, 'amend' | 'postback_url' | 'token_withheld' | 'offer_parameter' | 'waiting'> & {
  token: Buffer
  amend: boolean | null
}
type NetworkReader = Pick<Ground, 'db' | 'secrets'> & {
  readonly origin: string | undefined
  readonly actor: { org_id: number; role: Role }
}

/** Replaces the token for members: anyone who knows it can record conversions, and members may not change anything. */
const WITHHELD = '*'.repeat(8)

const DEFAULT_OVERLAP_HOURS = 24

/** Networks of the organization, newest first. */
export async function listNetworks(
  context: Context<typeof api.listNetworks>,
  { query }: Call<typeof api.listNetworks>,
) {
  let rows = live(context.db, context.actor.org_id).select(COLUMNS)
  if (query.tag_id !== undefined) rows = rows.where(hasTag(query.tag_id))
  const { data, next_cursor } = await newestFirst(rows.$castTo<NetworkRow>(), query)
  return { data: await networksOf(context, data), next_cursor }
}

/** One network. Refuses `object_not_found`. */
export async function readNetwork(context: Context<typeof api.readNetwork>, { params }: Call<typeof api.readNetwork>) {
  return await networkOf(context, await rowOf(context, params.id))
}

/** Creates a network with its template's parameters and statuses, and a postback URL. */
export async function createNetwork(
  context: Context<typeof api.createNetwork>,
  { body }: Call<typeof api.createNetwork>,
) {
  const { db, actor, secrets } = context
  const { org_id } = actor
  const created = {
    org_id,
    id: newId(),
    name: body.name,
    template: body.template,
    currency: body.currency ?? USD,
    created_at: new Date().toISOString(),
  }
  const row = await db.transaction().execute(trx => insertNetwork(trx, secrets, created))
  return await networkOf(context, row)
}

type NewNetwork = {
  org_id: number
  id: string
  name: string
  template: api.TemplateName
  currency?: string | undefined
  created_at: string
}

/** Writes a network with its template's parameters and statuses, and a new token. */
export async function insertNetwork(
  trx: Transaction<Tables>,
  secrets: Pick<Secrets, 'seal'>,
  { org_id, id, template, currency = USD, created_at, ...named }: NewNetwork,
): Promise<NetworkRow> {
  const { parameters, statuses, default_type, unpaid_types } = TEMPLATES[template]
  const token = newToken()
  await trx
    .insertInto('network_tokens')
    .values({ hash: hashToken(token), org_id, network_id: id, created_at })
    .execute()
  return await trx
    .insertInto('networks')
    .values({
      org_id,
      id,
      ...named,
      template,
      parameters: JSON.stringify(parameters),
      statuses: JSON.stringify(statuses),
      default_type,
      unpaid_types: [...unpaid_types],
      currency,
      // New networks convert if their postbacks can name a currency; older ones refuse other currencies.
      convert: parameters.currency.length > 0 || currency !== USD,
      amend: false,
      hold_days: null,
      ips: [],
      token: secrets.seal(token),
      active: true,
      created_at,
      updated_at: created_at,
    })
    .returning(COLUMNS)
    .$castTo<NetworkRow>()
    .executeTakeFirstOrThrow()
}

/** Changes the given fields; maps and lists are replaced whole. Refuses `object_not_found`, and `invalid_request` for an invalid IP address. */
export async function updateNetwork(
  context: Context<typeof api.updateNetwork>,
  { params, body }: Call<typeof api.updateNetwork>,
) {
  const { parameters, statuses, ips, ...plain } = body
  const fault = faultOfIps(ips ?? [])
  if (fault !== undefined) refuse('invalid_request', { error: `ips: ${fault}` })
  const changes = {
    ...plain,
    ...(ips === undefined ? {} : { ips }),
    ...(parameters === undefined ? {} : { parameters: JSON.stringify(parameters) }),
    ...(statuses === undefined ? {} : { statuses: JSON.stringify(statuses) }),
  }
  const row = await change(context.db, context.actor.org_id, idOf(params.id), changes)
  if (row.convert && row.currency !== USD) await wantRates({ pool: context.database.reads, config: context.config })
  return await networkOf(context, row)
}

/** Deletes softly; its postback URLs stop working. Refuses `object_not_found`. */
export async function deleteNetwork(
  { db, actor }: Context<typeof api.deleteNetwork>,
  { params }: Call<typeof api.deleteNetwork>,
) {
  const id = idOf(params.id)
  await db.transaction().execute(async trx => {
    await change(trx, actor.org_id, id, { deleted_at: new Date().toISOString() })
    await trx.deleteFrom('network_tokens').where('org_id', '=', actor.org_id).where('network_id', '=', id).execute()
  })
  return { ok: true as const }
}

/** Gives the network a new postback URL. The old ones work for `overlap_hours` more, 24 by default. Refuses `object_not_found`. */
export async function rotateNetworkToken(
  context: Context<typeof api.rotateNetworkToken>,
  { params, body }: Call<typeof api.rotateNetworkToken>,
) {
  const { db, actor, secrets } = context
  const { org_id } = actor
  const [network_id, token, now] = [idOf(params.id), newToken(), Date.now()]
  const created_at = new Date(now).toISOString()
  const ends = new Date(now + (body.overlap_hours ?? DEFAULT_OVERLAP_HOURS) * HOUR_MS).toISOString()
  const row = await db.transaction().execute(async trx => {
    // Locks the network's row first, so that the second of two concurrent rotations ends the first one's token.
    const changed = await change(trx, org_id, network_id, { token: secrets.seal(token) })
    await trx
      .deleteFrom('network_tokens')
      .where('org_id', '=', org_id)
      .where('network_id', '=', network_id)
      .where('expires_at', '<=', created_at)
      .execute()
    await trx
      .updateTable('network_tokens')
      .set({ expires_at: sql`least(expires_at, ${ends}::timestamptz)` })
      .where('org_id', '=', org_id)
      .where('network_id', '=', network_id)
      .execute()
    await trx
      .insertInto('network_tokens')
      .values({ hash: hashToken(token), org_id, network_id, created_at })
      .execute()
    return changed
  })
  return await networkOf(context, row)
}

/** The network's current maps; undefined if it is not the organization's. Includes deleted networks, whose postbacks may still wait. */
export async function mapsOf(db: Kysely<Tables>, org_id: number, network_id: string): Promise<NetworkMaps | undefined> {
  return await db
    .selectFrom('networks')
    .select(['parameters', 'statuses', 'default_type', 'unpaid_types', 'currency', 'convert', 'amend', 'hold_days'])
    .where('org_id', '=', org_id)
    .where('id', '=', network_id)
    .$castTo<NetworkMaps>()
    .executeTakeFirst()
}

const live = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('networks').where('org_id', '=', org_id).where('deleted_at', 'is', null)

async function rowOf({ db, actor }: NetworkReader, id: string): Promise<NetworkRow> {
  const row = live(db, actor.org_id).select(COLUMNS).where('id', '=', idOf(id)).$castTo<NetworkRow>()
  return (await row.executeTakeFirst()) ?? refuse('object_not_found')
}

type Changes = Updateable<Tables['networks']>

async function change(db: Kysely<Tables>, org_id: number, id: string, changes: Changes): Promise<NetworkRow> {
  const row = await db
    .updateTable('networks')
    .set({ ...changes, updated_at: new Date().toISOString() })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning(COLUMNS)
    .$castTo<NetworkRow>()
    .executeTakeFirst()
  return row ?? refuse('object_not_found')
}

async function networkOf(context: NetworkReader, row: NetworkRow): Promise<api.Network> {
  const [network] = await networksOf(context, [row])
  return network ?? refuse('object_not_found')
}

/** Adds the postback URL (for members without its token), and how many postbacks wait. */
async function networksOf(
  { db, secrets, origin, actor }: NetworkReader,
  rows: readonly NetworkRow[],
): Promise<api.Network[]> {
  if (rows.length === 0) return []
  const waiting = await db
    .selectFrom('network_calls')
    .select(['network_id', eb => eb.fn.countAll<string>().as('count')])
    .where('org_id', '=', actor.org_id)
    .groupBy('network_id')
    .execute()
  const counts = new Map(waiting.map(({ network_id, count }) => [network_id, Number(count)]))
  const token_withheld = actor.role === 'member'
  return rows.map(({ token, ...row }) => {
    const template = TEMPLATES[row.template]
    const secret = token_withheld ? WITHHELD : secrets.open(token)
    const postback_url = `${origin ?? ''}/postback/${secret}?${queryOf(template, row.parameters)}`
    const { offer_parameter } = template
    return {
      ...row,
      amend: row.amend === true,
      postback_url,
      token_withheld,
      offer_parameter,
      waiting: counts.get(row.id) ?? 0,
    }
  })
}

/** The query of the postback URL: the first name of each field, with the network's macro. */
function queryOf({ macros, also }: NetworkTemplate, parameters: api.ParameterMap): string {
  const pairs = Object.entries(macros).flatMap(([field, macro]) => {
    const name = parameters[field as api.Field][0]
    return name === undefined ? [] : [`${name}=${macro}`]
  })
  return [...pairs, ...(also === undefined ? [] : [also])].join('&')
}

export const setNetworkTags = tagsDeed('networks')
export const setNetworkNote = noteDeed('networks')
