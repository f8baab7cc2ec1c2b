/**
 * The warnings of a campaign. After a write: unknown macros, and a click flow without a fallback. After a read and a write: a bot or channel
 * that is not ready. Owns no table.
 */
import type { Kysely } from 'kysely'
import { fieldsOf } from '../../contract/json.ts'
import { addressWarnings, type Warning } from '../../contract/warnings.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import { unknownMacros } from '../addresses/preview.ts'
import type * as api from './api.ts'
import type { DestinationAndOffer, StoredDestination } from './destination.ts'

type SentFields = { readonly [F in 'destination' | 'fallback_url']?: api.CampaignDraft[F] | undefined }

type ActorAndDatabase = Pick<Context<typeof api.updateCampaign>, 'db' | 'actor'>

/**
 * The warnings after a write: about sent addresses, about a click flow that the write left without a fallback, and about bots and channels. An
 * API key gets the latter only if it sent the destination.
 */
export async function warningsOn(
  { db, actor }: ActorAndDatabase,
  { destination, fallback_url }: SentFields,
  row: Pick<api.Campaign, 'fallback_url'> & DestinationAndOffer,
): Promise<Warning[]> {
  const url = destination?.type === 'redirect' ? destination.url : null
  const isOpenEnded =
    (destination !== undefined || fallback_url !== undefined) &&
    row.destination.type === 'click_flow' &&
    row.fallback_url === null
  return [
    ...addressWarnings('destination.url', url, unknownMacros(url)),
    ...addressWarnings('fallback_url', fallback_url ?? null, unknownMacros(fallback_url ?? null)),
    ...(isOpenEnded ? [NO_FALLBACK] : []),
    ...(destination === undefined && actor.kind === 'key'
      ? []
      : await placeWarnings(db, actor.org_id, row.destination)),
  ]
}

type TelegramTarget = { readonly kind: 'bot' | 'channel'; readonly id: string; readonly field: string }

/** Warnings about bots whose token is revoked and channels without invite links, which the campaign or its published click flow leads to. */
export async function placeWarnings(
  db: Kysely<Tables>,
  org_id: number,
  destination: StoredDestination,
): Promise<Warning[]> {
  const targets = await targetsOf(db, org_id, destination)
  const ids = (kind: TelegramTarget['kind']) => [
    ...new Set(targets.filter(one => one.kind === kind).map(({ id }) => id)),
  ]
  const channels = await channelsOf(db, org_id, ids('channel'))
  const bots = await revokedBots(db, org_id, [...ids('bot'), ...channels.map(({ bot_id }) => bot_id)])
  const fieldOf = (id: string) => targets.find(target => target.id === id)?.field
  const unready = channels
    .filter(({ state }) => state !== 'ready')
    .map(({ id, title, state_reason }) => ({
      code: 'channel_not_ready' as const,
      field: fieldOf(id) ?? 'destination',
      message: `${title}: no invite links can be made. ${state_reason ?? ''} Visitors get the links that are left, then the fallback.`,
    }))
  const revoked = bots.map(({ id, username }) => ({
    code: 'bot_revoked' as const,
    field: fieldOf(id) ?? fieldOf(channels.find(({ bot_id }) => bot_id === id)?.id ?? '') ?? 'destination',
    message: `@${username}: Telegram refuses its token, so nothing of it is recorded. Give the bot its new token.`,
  }))
  return [...unready, ...revoked]
}

async function targetsOf(
  db: Kysely<Tables>,
  org_id: number,
  destination: StoredDestination,
): Promise<TelegramTarget[]> {
  if (destination.type === 'redirect') {
    const { telegram, channel } = destination
    return [
      ...(telegram === undefined ? [] : [{ kind: 'bot', id: telegram.bot_id, field: 'destination.bot_id' } as const]),
      ...(channel === undefined
        ? []
        : [{ kind: 'channel', id: channel.channel_id, field: 'destination.channel_id' } as const]),
    ]
  }
  if (destination.type !== 'click_flow') return []
  const field = 'destination.click_flow_id'
  const published = await db
    .selectFrom('click_flows as f')
    .innerJoin('click_flow_versions as v', join =>
      join
        .onRef('v.org_id', '=', 'f.org_id')
        .onRef('v.click_flow_id', '=', 'f.id')
        .onRef('v.version', '=', 'f.published_version'),
    )
    .select('v.graph')
    .where('f.org_id', '=', org_id)
    .where('f.id', '=', destination.click_flow_id)
    .where('f.deleted_at', 'is', null)
    .executeTakeFirst()
  const { nodes } = fieldsOf(published?.graph)
  return (Array.isArray(nodes) ? nodes.map(fieldsOf) : []).flatMap(({ type, bot_id, channel_id }): TelegramTarget[] => [
    ...((type === 'bot' || type === 'mini_app') && typeof bot_id === 'string'
      ? [{ kind: 'bot' as const, id: bot_id, field }]
      : []),
    ...(type === 'channel' && typeof channel_id === 'string'
      ? [{ kind: 'channel' as const, id: channel_id, field }]
      : []),
  ])
}

async function channelsOf(db: Kysely<Tables>, org_id: number, ids: readonly string[]) {
  if (ids.length === 0) return []
  return await db
    .selectFrom('channels')
    .select(['id', 'bot_id', 'title', 'state', 'state_reason'])
    .where('org_id', '=', org_id)
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()
}

async function revokedBots(db: Kysely<Tables>, org_id: number, ids: readonly string[]) {
  if (ids.length === 0) return []
  return await db
    .selectFrom('bots')
    .select(['id', 'username'])
    .where('org_id', '=', org_id)
    .where('id', 'in', [...new Set(ids)])
    .where('token_state', '=', 'revoked')
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()
}

const NO_FALLBACK: Warning = {
  code: 'no_fallback',
  field: 'fallback_url',
  message:
    'While the click flow is paused, or a step on their path is archived, visitors have nowhere to go. Give the campaign a fallback (fallback_url).',
}
