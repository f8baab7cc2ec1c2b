// The demo's channels and their invite links. They are made up: Telegram was not called, so no channel is ready, and no links are created.
import { sql, type Transaction } from 'kysely'
import { DAY_MS, MINUTE_MS } from '../src/contract/days.ts'
import { newId, toWireId } from '../src/contract/ids.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import { nameSharedLink } from '../src/traffic/campaigns/shared-link.ts'
import { chanceOf } from './chance.ts'
import { BATCH } from '../src/traffic/invite-links/making.ts'
import { linkWordsOf } from '../src/traffic/invite-links/words.ts'
import type { Founding, Standing } from './objects.ts'
import type { DemoClick, Place } from './traffic.ts'

/** Chat ids in Telegram's form. */
export const SIGNALS = { chat_id: -1_000_000_000_101, title: 'CoinPulse Signals' } as const
export const CHAT = { chat_id: -1_000_000_000_102, title: 'CoinPulse Chat' } as const

const CHANNELS = [
  { ...SIGNALS, chat_id: String(SIGNALS.chat_id), kind: 'channel', member_count: 6412 },
  {
    ...CHAT,
    chat_id: String(CHAT.chat_id),
    kind: 'supergroup',
    member_count: 893,
    username: 'coinpulse__demo_chat',
    join_mode: 'request',
    on_request: 'approve',
    approve_after_s: 30,
    request_message: JSON.stringify({ text: 'Hi {first_name|there}, you are in within a minute.' }),
  },
] as const

export const REASON = 'The channels of the demo are made up, and Telegram was not asked.'
const LINK_DAYS = 7
const FREE = 50

/** Inserts the bot's channels. Returns their ids by title. */
export async function placeChannels(
  { trx, org_id, nextId, times }: Founding,
  standing: Standing,
  bot_id: string,
): Promise<(title: string) => string> {
  const rows = CHANNELS.map(channel => ({ ...channel, org_id, id: nextId(), bot_id, state: 'not_admin' }))
  for (const row of rows) {
    await trx
      .insertInto('channels')
      .values({ ...row, ...times, state_reason: REASON })
      .execute()
    const { id, chat_id, state } = row
    const [username, join_mode] = ['username' in row ? row.username : null, 'join_mode' in row ? row.join_mode : 'open']
    standing.put({ org_id, id, chat_id, username, join_mode, state, link_days: LINK_DAYS, is_deleted: false })
  }
  return title => rows.find(row => row.title === title)?.id ?? ''
}

/** Inserts the links of the last days' clicks, some unused ones, and each campaign's shared link. */
export async function insertLinks(
  trx: Transaction<Tables>,
  { org_id, now }: { org_id: number; now: number },
  places: readonly Place[],
  clicks: readonly DemoClick[],
): Promise<void> {
  const made = (id: string) => `https://t.me/+demo_${toWireId(id)}`
  const iso = (ms: number) => new Date(ms).toISOString()
  const link = (channel_id: string, ms: number) => {
    const id = newId(ms)
    const common = { org_id, id, channel_id, url: made(id), made_at: iso(ms), changed_at: iso(ms) }
    return { ...common, purpose: 'pool', campaign_id: null, expires_at: iso(ms + LINK_DAYS * DAY_MS) }
  }
  const channels = await trx.selectFrom('channels').select('id').where('org_id', '=', org_id).execute()
  for (const { id: channel_id } of channels)
    for (let from = 0; from < FREE; from += BATCH) {
      const links = Array.from({ length: Math.min(BATCH, FREE - from) }, () => link(channel_id, now))
      await trx.insertInto('channel_links').values(links).execute()
      const { expires_at } = link(channel_id, now)
      const size = { made: links.length, left_over: links.length }
      await trx
        .insertInto('link_batches')
        .values({ org_id, id: newId(now), channel_id, ...size, words: linkWordsOf(links), state: 'free', expires_at })
        .execute()
    }
  for (const { campaign_id, channel_id } of places) {
    if (channel_id === undefined) continue
    const { url, id, ...shared } = link(channel_id, now)
    await trx
      .insertInto('channel_links')
      .values({ ...shared, id, url, purpose: 'shared', campaign_id, expires_at: null })
      .execute()
    await nameSharedLink(trx, { org_id, campaign_id, channel_id, url })
    const own = clicks.filter(
      click => click.campaign_id === campaign_id && click.tracked && click.ms > now - LINK_DAYS * DAY_MS,
    )
    const given = own.map(click => ({ click, row: link(channel_id, click.ms - DAY_MS) }))
    if (given.length === 0) continue
    await trx
      .insertInto('channel_links')
      .values(given.map(({ row }) => row))
      .execute()
    await sql`
      update clicks c set link_id = g.link_id
      from unnest(${given.map(({ click }) => click.id)}::uuid[], ${given.map(({ row }) => row.id)}::uuid[]) as g (id, link_id)
      where c.org_id = ${org_id} and c.id = g.id`.execute(trx)
    const lately = given.filter(({ click }) => click.ms > now - DAY_MS)
    const minutes = Map.groupBy(lately, ({ click }) => Math.floor(click.ms / MINUTE_MS) * MINUTE_MS)
    for (const [minute, { length }] of minutes)
      await sql`
        insert into links_given (org_id, channel_id, minute, given)
        values (${org_id}, ${channel_id}, ${iso(minute)}, ${length})
        on conflict (org_id, channel_id, minute) do update set given = links_given.given + excluded.given`.execute(trx)
  }
}

const HOW: readonly (readonly [certainty: string, below: number])[] = [
  ['link', 0.9],
  ['campaign', 0.96],
  ['person', 1],
]

/** How a join's click is found: nearly always by its own link. */
export function attributionOf(click_id: string): string {
  const drawn = chanceOf(click_id, 'attribution')()
  return HOW.find(([, below]) => drawn < below)?.[0] ?? 'link'
}
