// An organization with a bot that is an administrator of a channel, clicks of its campaigns, and the invite links of these clicks.
import assert from 'node:assert/strict'
import { type Insertable, type Kysely, sql } from 'kysely'
import { newId, toUuid, toWireId } from '../../src/contract/ids.ts'
import type { Tables } from '../../src/ground/db/tables.ts'
import type { BotGround } from './bots.ts'
import { seedChannel } from './invite-links.ts'
import type { SignedIn } from './people.ts'
import type { FakeBot, FakeChat } from './telegram-fake/telegram-fake.ts'

const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x64) Chrome/130.0.0.0' }

type ChannelColumns = Partial<
  Pick<
    Insertable<Tables['channels']>,
    | 'on_request'
    | 'approve_after_s'
    | 'request_message'
    | 'shared_joins'
    | 'leave_event'
    | 'leave_window_h'
    | 'username'
    | 'created_at'
  >
>

export type ChannelPlace = {
  readonly owner: SignedIn
  readonly org_id: number
  readonly fake: FakeBot
  /** The ids of the bot and the channel are uuids. */
  readonly bot_id: string
  readonly chat: FakeChat
  readonly channel_id: string
  readonly campaign: { readonly id: string; readonly key: string }
  /** Makes a click; returns its wire id. */
  click(key?: string): Promise<string>
  campaignOf(name: string, body?: object): Promise<{ id: string; key: string }>
  /** Creates an invite link that was given to this click, or a shared link that was given to these clicks. */
  link(to: { click?: string; shared?: readonly string[]; asks?: boolean; granted_at?: string }): Promise<string>
  /** The recorded events, without starts. */
  events(type?: string): Promise<RecordedEvent[]>
  members(): Promise<Tables['channel_members'][]>
  requests(): Promise<Tables['join_requests'][]>
  charges(): Promise<number>
}
type RecordedEvent = Pick<Tables['events'], 'id' | 'type' | 'click_id' | 'telegram_user_id'> & {
  readonly payload: Readonly<Record<string, unknown>>
}

/** Creates an organization; `is` sets the channel's columns. With `isAdded: false` the bot is an administrator of a chat that is no channel. */
export async function channelPlace(
  ground: BotGround,
  { is = {}, chat: about = {}, isAdded = true }: { is?: ChannelColumns; chat?: object; isAdded?: boolean } = {},
): Promise<ChannelPlace> {
  const { telegram, house } = ground
  const db = house.database.kysely
  const owner = await ground.signIn()
  const { org_id } = owner
  const fake = telegram.bot()
  const bot_id = uuid((await ground.add(fake, {}, owner)).id)
  const chat = telegram.chat(about)
  chat.promote(fake)
  const chat_id = String(chat.id)
  await telegram.settled()
  const { id: channel_id } = isAdded
    ? await seedChannel(db, org_id, { bot_id, chat_id, ...(is as object) })
    : { id: newId() }
  const campaignOf: ChannelPlace['campaignOf'] = async (name, body = {}) => {
    const destination = { type: 'redirect', url: 'https://t.me/some?start={click_id}' }
    const made = await ground.call('POST', '/api/campaigns', { name, destination, ...body }, owner)
    assert.equal(made.statusCode, 201, made.body)
    const { id, key } = made.data() as { id: string; key: string }
    return { id: uuid(id), key }
  }
  const campaign = await campaignOf('Channel')
  const click = async (key = campaign.key) => {
    const visit = await house.call('GET', `/c/${key}`, { headers: BROWSER })
    return new URL(String(visit.headers.location)).searchParams.get('start') ?? assert.fail('no click')
  }
  return {
    owner,
    org_id,
    fake,
    bot_id,
    chat,
    channel_id,
    campaign,
    click,
    campaignOf,
    link: linkMaker(ground, { org_id, fake, chat, channel_id, campaign }),
    ...readsOf(db, org_id),
  }
}

async function createLink({ telegram }: BotGround, { token }: FakeBot, params: object): Promise<string> {
  const response = await fetch(`${telegram.origin}/bot${token}/createChatInviteLink`, {
    method: 'POST',
    body: JSON.stringify(params),
  })
  const { result } = (await response.json()) as { result?: { invite_link: string } }
  return result?.invite_link ?? assert.fail('the link was not created')
}

const uuid = (id: string): string => toUuid(id) ?? assert.fail(`${id} is no id`)

type LinkPlace = Pick<ChannelPlace, 'org_id' | 'fake' | 'chat' | 'channel_id' | 'campaign'>

function linkMaker(ground: BotGround, { org_id, fake, chat, channel_id, campaign }: LinkPlace): ChannelPlace['link'] {
  const db = ground.house.database.kysely
  return async ({ click: to, shared, asks = false, granted_at }) => {
    const id = newId()
    const now = new Date().toISOString()
    const url = await createLink(ground, fake, { chat_id: chat.id, name: toWireId(id), creates_join_request: asks })
    await db
      .insertInto('channel_links')
      .values({
        org_id,
        id,
        channel_id,
        purpose: shared === undefined ? 'pool' : 'shared',
        campaign_id: shared === undefined ? null : campaign.id,
        url,
        made_at: now,
        changed_at: now,
        expires_at: null,
      })
      .execute()
    const common = { org_id, channel_id, link_id: id }
    if (to !== undefined)
      await db
        .insertInto('link_grants')
        .values({ ...common, click_id: uuid(to), granted_at: granted_at ?? now })
        .execute()
    for (const [place, one] of (shared ?? []).entries())
      await db
        .insertInto('shared_grants')
        .values({
          ...common,
          click_id: uuid(one),
          granted_at: granted_at ?? new Date(Date.now() - 60_000 + place * 1000).toISOString(),
        })
        .execute()
    return url
  }
}

function readsOf(
  db: Kysely<Tables>,
  org_id: number,
): Pick<ChannelPlace, 'events' | 'members' | 'requests' | 'charges'> {
  return {
    events: async type => {
      const { rows } = await sql<RecordedEvent>`
        select id, type, click_id, telegram_user_id, payload from events
        where org_id = ${org_id} and type <> 'bot_start' and (${type ?? null}::text is null or type = ${type ?? null})
        order by created_at, id`.execute(db)
      return rows
    },
    members: () =>
      db
        .selectFrom('channel_members')
        .selectAll()
        .where('org_id', '=', org_id)
        .orderBy('id')
        .$castTo<Tables['channel_members']>()
        .execute(),
    requests: () =>
      db
        .selectFrom('join_requests')
        .selectAll()
        .where('org_id', '=', org_id)
        .orderBy('id')
        .$castTo<Tables['join_requests']>()
        .execute(),
    charges: async () => {
      const { rows } = await sql<{ n: number }>`
        select count(*)::int as n from ledger where org_id = ${org_id} and kind = 'charge'`.execute(db)
      return rows[0]?.n ?? 0
    },
  }
}
