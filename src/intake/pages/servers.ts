/**
 * Page servers: servers that render a campaign's pages and report their visits in the visitors' names. Each has a secret, which is shown once. Owns
 * `page_servers`. Deletion is soft.
 */
import { LRUCache } from 'lru-cache'
import type { Kysely } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, type Ground, idOf } from '../../ground/room.ts'
import type { LiveCampaign } from '../../traffic/campaigns/live.ts'
import { hashToken, newToken } from '../networks/token.ts'
import type * as api from './api.ts'

export type PageServers = {
  /** Whether the secret is one of the campaign's. While the database is away, as it was last known. */
  isKnown: (campaign: Pick<LiveCampaign, 'org_id' | 'id'>, secret: string) => Promise<boolean>
}

const REMEMBERED = 1000

/** Opens the check of secrets. */
export function openPageServers({ db }: Pick<Ground, 'db'>): PageServers {
  const known = new LRUCache<string, true>({ max: REMEMBERED })
  return {
    async isKnown({ org_id, id }, secret) {
      const hash = hashToken(secret)
      const name = `${id} ${hash.toString('hex')}`
      try {
        const row = await serversOf(db, org_id, id).select('id').where('secret_hash', '=', hash).executeTakeFirst()
        if (row === undefined) known.delete(name)
        else known.set(name, true)
        return row !== undefined
      } catch {
        return known.has(name)
      }
    },
  }
}

const serversOf = (db: Kysely<Tables>, org_id: number, campaign_id: string) =>
  db
    .selectFrom('page_servers')
    .where('org_id', '=', org_id)
    .where('campaign_id', '=', campaign_id)
    .where('deleted_at', 'is', null)

/** Refuses `object_not_found` unless the organization has the campaign. */
export async function requireCampaignOf(db: Kysely<Tables>, org_id: number, id: string) {
  const row = await db
    .selectFrom('campaigns')
    .select(['id', 'key', 'sites', 'domain_id'])
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row ?? refuse('object_not_found')
}

/** The page servers of a campaign, newest first. Refuses `object_not_found`. */
export async function listPageServers(
  { db, actor }: Context<typeof api.listPageServers>,
  { params }: Call<typeof api.listPageServers>,
) {
  const campaign_id = idOf(params.id)
  await requireCampaignOf(db, actor.org_id, campaign_id)
  const data = await serversOf(db, actor.org_id, campaign_id)
    .select(['id', 'name', 'created_at'])
    .orderBy('id', 'desc')
    .execute()
  return { data }
}

/** Adds a page server, with its secret this once. Refuses `object_not_found`, and `invalid_request` for more than `MOST_SERVERS`. */
export async function createPageServer(
  { db, actor }: Context<typeof api.createPageServer>,
  { params, body }: Call<typeof api.createPageServer>,
) {
  const campaign_id = idOf(params.id)
  await requireCampaignOf(db, actor.org_id, campaign_id)
  const others = await serversOf(db, actor.org_id, campaign_id).select('id').limit(MOST_SERVERS).execute()
  if (others.length === MOST_SERVERS)
    refuse('invalid_request', { error: `a campaign has at most ${MOST_SERVERS} page servers` })
  const secret = newToken()
  const row = { id: newId(), name: body.name, created_at: new Date().toISOString() }
  await db
    .insertInto('page_servers')
    .values({ org_id: actor.org_id, campaign_id, secret_hash: hashToken(secret), ...row })
    .execute()
  return { ...row, secret }
}

const MOST_SERVERS = 50

/** Removes a page server: its secret no longer works. Refuses `object_not_found`. */
export async function deletePageServer(
  { db, actor }: Context<typeof api.deletePageServer>,
  { params }: Call<typeof api.deletePageServer>,
) {
  const row = await db
    .updateTable('page_servers')
    .set({ deleted_at: new Date().toISOString() })
    .where('org_id', '=', actor.org_id)
    .where('campaign_id', '=', idOf(params.id))
    .where('id', '=', idOf(params.server_id))
    .where('deleted_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (row === undefined) refuse('object_not_found')
  return { ok: true as const }
}
