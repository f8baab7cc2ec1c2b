// Seeds channels and invite links directly in the database.
import { randomBytes, randomInt } from 'node:crypto'
import type { Kysely } from 'kysely'
import { newId } from '../../src/contract/ids.ts'
import { keepLink } from '../../src/traffic/invite-links/making.ts'
import type { Tables } from '../../src/ground/db/tables.ts'

const DAY_MS = 86_400_000

/** Inserts a channel in state `ready`, without an existing bot unless one is given. */
export async function seedChannel(
  db: Kysely<Tables>,
  org_id: number,
  about: Partial<Pick<Tables['channels'], 'bot_id' | 'chat_id' | 'title' | 'username' | 'state'>> = {},
): Promise<{ id: string; chat_id: string }> {
  const now = new Date().toISOString()
  const { id, chat_id } = await db
    .insertInto('channels')
    .values({
      org_id,
      id: newId(),
      bot_id: newId(),
      chat_id: String(-1_000_000_000_000 - randomInt(1, 999_999_999)),
      title: 'Deals',
      kind: 'channel',
      state: 'ready',
      created_at: now,
      updated_at: now,
      ...about,
    })
    .returning(['id', 'chat_id'])
    .executeTakeFirstOrThrow()
  return { id, chat_id }
}

/** Inserts links of a channel: free links of its pool, or a campaign's shared link. */
export async function seedLinks(
  db: Kysely<Tables>,
  org_id: number,
  channel_id: string,
  { count = 1, campaign_id = null, days = 7 }: { count?: number; campaign_id?: string | null; days?: number } = {},
): Promise<{ id: string; url: string }[]> {
  const links = Array.from({ length: count }, () => ({
    id: newId(),
    url: `https://t.me/+${randomBytes(12).toString('base64url')}`,
  }))
  const expires_at = campaign_id === null ? new Date(Date.now() + days * DAY_MS).toISOString() : null
  const { chat_id, join_mode } = await db
    .selectFrom('channels')
    .select(['chat_id', 'join_mode'])
    .where('org_id', '=', org_id)
    .where('id', '=', channel_id)
    .executeTakeFirstOrThrow()
  const of = { org_id, channel_id, campaign_id, expires_at, chat_id, join_mode }
  for (const link of links) await keepLink(db, { ...of, ...link })
  return links
}
