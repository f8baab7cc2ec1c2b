/**
 * What is said beside a campaign: of one that was written, macros that are none and a click flow without a fallback behind it; of one that is read too,
 * that a place in Telegram it leads to is not ready. Owns no table.
 */
import type { Kysely } from 'kysely'
import { fieldsOf } from '../../contract/json.ts'
import { macroWarnings, type Warning } from '../../contract/warnings.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import { unknownMacros } from '../addresses/preview.ts'
import type * as api from './api.ts'
import type { Leading, StoredDestination } from './destination.ts'

type Sent = { readonly [F in 'destination' | 'fallback_url']?: api.CampaignDraft[F] | undefined }

type Writing = Pick<Context<typeof api.updateCampaign>, 'db' | 'actor'>

/**
 * What is to be said of the addresses that were sent, of a click flow that was left without a fallback by it, and of places in Telegram: to a key only
 * of those it has sent.
 */
export async function warningsOn(
  { db, actor }: Writing,
  { destination, fallback_url }: Sent,
  row: Pick<api.Campaign, 'fallback_url'> & Leading,
): Promise<Warning[]> {
  const url = destination?.type === 'redirect' ? destination.url : null
  const isOpenEnded =
    (destination !== undefined || fallback_url !== undefined) &&
    row.destination.type === 'click_flow' &&
    row.fallback_url === null
  return [
    ...macroWarnings('destination.url', unknownMacros(url)),
    ...macroWarnings('fallback_url', unknownMacros(fallback_url ?? null)),
    ...(isOpenEnded ? [NO_FALLBACK] : []),
    ...(destination === undefined && actor.kind === 'key'
      ? []
      : await placeWarnings(db, actor.org_id, row.destination)),
  ]
}

type Place = { readonly kind: 'bot' | 'channel'; readonly id: string; readonly field: string }

/** Where visitors are led and nobody is there to hear of it, or to let them in: by the campaign itself, or by the click flow in traffic. */
export async function placeWarnings(
  db: Kysely<Tables>,
  org_id: number,
  destination: StoredDestination,
): Promise<Warning[]> {
  const places = await placesOf(db, org_id, destination)
  const ids = (kind: Place['kind']) => [...new Set(places.filter(one => one.kind === kind).map(({ id }) => id))]
  const channels = await channelsOf(db, org_id, ids('channel'))
  const bots = await revokedBots(db, org_id, [...ids('bot'), ...channels.map(({ bot_id }) => bot_id)])
  const fieldOf = (id: string) => places.find(place => place.id === id)?.field
  const unready = channels
    .filter(({ state }) => state !== 'ready')
    .map(({ id, title, state_reason }) => ({
      code: 'channel_not_ready' as const,
      field: fieldOf(id) ?? 'destination',
      message: `${title}: no invite links can be made. ${state_reason ?? ''} Visitors get those that are ready, then the fallback.`,
    }))
  const revoked = bots.map(({ id, username }) => ({
    code: 'bot_revoked' as const,
    field: fieldOf(id) ?? fieldOf(channels.find(({ bot_id }) => bot_id === id)?.id ?? '') ?? 'destination',
    message: `@${username}: Telegram refuses its token, so nothing of it is recorded. Give the bot its new token.`,
  }))
  return [...unready, ...revoked]
}

async function placesOf(db: Kysely<Tables>, org_id: number, destination: StoredDestination): Promise<Place[]> {
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
  return (Array.isArray(nodes) ? nodes.map(fieldsOf) : []).flatMap(({ type, bot_id, channel_id }): Place[] => [
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
    'Visitors the click flow cannot take, while it is paused or something on their path is archived, have nowhere to go. Give the campaign a fallback (fallback_url).',
}
