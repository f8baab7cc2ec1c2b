/**
 * Creates invite links ahead of clicks, so that no visitor waits for Telegram: for each channel as many as its busiest minutes need. One process at a
 * time creates a channel's links, one call after another, as fast as Telegram accepts them. A link is never revoked; it expires.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { DAY_MS, MINUTE_MS } from '../../contract/days.ts'
import { newId } from '../../contract/ids.ts'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { type NextDue, openQuiet } from '../../ground/db/quiet.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import {
  BATCH,
  BATCH_OF_MANY,
  busiestTenMinutes,
  campaignsWithoutLink,
  countFree,
} from '../../traffic/invite-links/making.ts'
import { checkBotSoon } from '../bots/check-soon.ts'
import type { Failure } from '../bots/telegram.ts'
import { setFreeLinks } from './figures.ts'
import { type LinkPaces, makeLink, slowDown } from './make.ts'
import { botCredentials, refreshChannel } from './channels.ts'
import { CHANNEL_COLUMNS, moveChannel, type StoredChannel, writeChannel } from './rows.ts'

const POLL_MS = 1000
/** Another process may claim the channel of a dead process after this. */
const LEASE_MS = 30_000
/** The pause between two counts of a channel whose links are used, and of any other channel. */
const BUSY_MS = 2000
const QUIET_MS = 30_000
/** Links created between two counts. */
const PORTION = 10
/** The largest pool. */
const MOST_LINKS = 5000
/** From this pool size on, batches are larger. */
const LARGE_POOL = 1000
/** Owners get a mail when the pool falls below a tenth. */
const LOW = 10
/** The retry pause if Telegram refuses although the bot has the right. */
const REFUSED_MS = 10 * MINUTE_MS
/** The first and the longest retry pause while Telegram is away. */
const AWAY_MS = 5000
const MOST_AWAY_MS = MINUTE_MS
/** Channels that a process serves at a time. */
const AT_ONCE = 20

type MakerGround = Pick<Ground, 'db' | 'database' | 'config' | 'secrets' | 'log'>
type ChannelId = { readonly org_id: number; readonly id: string }

const OPEN = `
  o.deleted_at is null and c.deleted_at is null and c.state = 'ready' and b.deleted_at is null and b.token_state = 'ok'
    and (b.send_after is null or b.send_after <= now())
    and (c.waiting_until is null or c.waiting_until <= now()) and (c.making_until is null or c.making_until <= now())`
const OWNERS = `
  join bots b on b.org_id = c.org_id and b.id = c.bot_id
  join organizations o on o.org_id = c.org_id`

const DUE = (among: Among) => `
  select c.org_id, c.id
  from channels c
  ${OWNERS}
  where ${OPEN} and (c.look_at is null or c.look_at <= now())${among('c.org_id')}${among('b.org_id')}
  limit ${AT_ONCE}`

/** Channels with a campaign that has no shared link yet. */
const WITHOUT_SHARED_LINK = (among: Among) => `
  select distinct c.org_id, c.id
  from campaigns k
  join channels c on c.org_id = k.org_id and c.id = (k.destination -> 'channel' ->> 'channel_id')::uuid
  ${OWNERS}
  left join channel_links l on l.org_id = k.org_id and l.channel_id = c.id and l.campaign_id = k.id
    and l.purpose = 'shared' and l.state <> 'dead'${among('l.org_id')}
  where ${OPEN} and k.deleted_at is null and k.status <> 'archived' and k.destination ->> 'channel' is not null
    and l.id is null${among('c.org_id')}${among('b.org_id')}${among('k.org_id')}
  limit ${AT_ONCE}`

const NEXT_DUE: NextDue = among => `
  select min(look_at) as at from channels where look_at > now()${among('org_id')}
  union all
  select min(waiting_until) from channels where waiting_until > now()${among('org_id')}
  union all
  select min(making_until) from channels where making_until > now()${among('org_id')}
  union all
  select min(send_after) from bots where send_after > now()${among('org_id')}`

/** A setting for tests: the pause after the first call. */
export type MakerOptions = { readonly link_pause_ms?: number | undefined }

/** Creates links until it is closed. Any number of processes may run it. */
export function openLinkMaker(ground: MakerGround, { link_pause_ms = 1000 }: MakerOptions = {}): Rounds {
  const paces: LinkPaces = { first_ms: link_pause_ms, of: new Map() }
  const pauses = new Map<string, number>()
  const running = new Map<string, Promise<void>>()
  const rounds = openRounds(
    'channels/maker',
    POLL_MS,
    async signal => {
      const { worker } = ground.database
      const due = (await askEverywhere<ChannelId>(worker, DUE)).rows
      const withoutSharedLink = (await askEverywhere<ChannelId>(worker, WITHOUT_SHARED_LINK)).rows
      for (const channel of [...due, ...withoutSharedLink]) {
        if (signal.aborted || running.has(channel.id) || running.size >= AT_ONCE) continue
        const ran = makeFor(ground, { paces, pauses, signal }, channel)
          .catch((error: unknown) =>
            ground.log.warn({ err: error }, 'could not create the links of a channel; retrying'),
          )
          .finally(() => running.delete(channel.id))
        running.set(channel.id, ran)
      }
    },
    error => ground.log.warn({ err: error }, 'could not look for channels that need links; retrying'),
    openQuiet(ground.database.worker, NEXT_DUE),
  )
  return {
    async close() {
      await rounds.close()
      await Promise.all(running.values())
    },
  }
}

/** `pauses`: the next retry pause of channels for which Telegram is away. */
type MakerRun = { readonly paces: LinkPaces; readonly pauses: Map<string, number>; readonly signal: AbortSignal }

/** Claims a channel and creates its missing links; does nothing if another process has claimed it. */
async function makeFor(ground: MakerGround, run: MakerRun, of: ChannelId): Promise<void> {
  const token = newId()
  if (!(await claim(ground, of, token))) return
  let look_ms = QUIET_MS
  try {
    for (;;) {
      const row = await keepClaim(ground, of, token)
      if (row === undefined || run.signal.aborted) {
        // Due again as soon as links may be created again.
        look_ms = 0
        return
      }
      const { isUsed, ...next } = await missingLinks(ground, row)
      look_ms = isUsed ? BUSY_MS : QUIET_MS
      if (next.links.length === 0) return
      const stop = await makeSome(ground, run, { of, token }, next)
      if (stop !== undefined) {
        // Due again as soon as the pause is over.
        look_ms = 0
        return await pauseAfterFailure(ground, run, stop.row, stop.failure)
      }
      run.pauses.delete(row.id)
    }
  } finally {
    await release(ground, of, token, run.signal.aborted ? 0 : look_ms)
  }
}

type ChannelClaim = { readonly of: ChannelId; readonly token: string }

/** Creates links one after another and reads the channel again before each. Returns the failure that ended it early. */
async function makeSome(
  ground: MakerGround,
  { paces, signal }: MakerRun,
  { of, token }: ChannelClaim,
  { links, of_batch }: Omit<MissingLinks, 'isUsed'>,
): Promise<{ row: StoredChannel; failure: Failure } | undefined> {
  for (const campaign_id of links) {
    const row = await keepClaim(ground, of, token)
    const bot = row && (await botCredentials(ground, row.org_id, row.bot_id))
    if (row === undefined || bot === undefined || signal.aborted) return undefined
    const failure = await makeLink(ground, paces, { row, bot, campaign_id, of_batch })
    if (failure !== undefined) return { row, failure }
    await sleep(paces.of.get(row.id) ?? paces.first_ms, undefined, { signal }).catch(() => {})
  }
  return undefined
}

/** `links`: an entry for each link, with its campaign or null for the pool. */
type MissingLinks = { readonly links: (string | null)[]; readonly of_batch: number; readonly isUsed: boolean }

/** The links to create next: shared links of campaigns first, then some for the pool. */
async function missingLinks({ db }: MakerGround, row: StoredChannel): Promise<MissingLinks> {
  const of = { org_id: row.org_id, channel_id: row.id }
  const [free, busiest, lacking] = await Promise.all([
    countFree(db, of, row.link_days),
    busiestTenMinutes(db, of),
    campaignsWithoutLink(db, of),
  ])
  setFreeLinks(row.id, free)
  const target = Math.min(MOST_LINKS, Math.max(row.pool_min, 2 * busiest))
  await requestPoolNotice({ db }, row, busiest > 0 && free * LOW < target, free * 2 >= target)
  const pool = Array.from({ length: Math.max(0, Math.min(PORTION, target - free)) }, () => null)
  const of_batch = target >= LARGE_POOL ? BATCH_OF_MANY : BATCH
  return { links: [...lacking.map(({ campaign_id }) => campaign_id), ...pool], of_batch, isUsed: busiest > 0 }
}

/** Requests one mail to owners when links run out, and another one only after there were enough again. */
async function requestPoolNotice(
  { db }: Pick<MakerGround, 'db'>,
  { org_id, id }: StoredChannel,
  isLow: boolean,
  isEnough: boolean,
): Promise<void> {
  if (isLow)
    await sql`
      update channels set notice = 'pool', mailed_at = null, claimed_until = null
      where org_id = ${org_id} and id = ${id} and notice is null`.execute(db)
  if (isEnough)
    await sql`
      update channels set notice = null, mailed_at = null
      where org_id = ${org_id} and id = ${id} and notice = 'pool'`.execute(db)
}

/** Pauses a channel after a failed call: exactly as long as a rate limit says, otherwise until the fault may be repaired. */
async function pauseAfterFailure(
  ground: MakerGround,
  { paces, pauses }: MakerRun,
  row: StoredChannel,
  failure: Failure,
): Promise<void> {
  const wait = async (ms: number, more: object = {}) =>
    void (await writeChannel(ground.db, row, {
      // Another channel of the bot may have been told to wait longer.
      waiting_until: sql<string>`greatest(waiting_until, ${await databaseTimeIn(ground.db, ms)}::timestamptz)`,
      ...more,
    }))
  if (failure.kind === 'later') {
    slowDown(paces, row.id)
    const limit_ms = Math.min(DAY_MS, (failure.retry_after ?? 1) * 1000)
    await wait(limit_ms)
    return await pauseOtherChannels(ground, row, limit_ms)
  }
  if (failure.kind === 'token') {
    await checkBotSoon(ground.db, { org_id: row.org_id, id: row.bot_id })
    return await wait(AWAY_MS)
  }
  if (failure.kind === 'unsent' || failure.kind === 'unknown') {
    const pause = pauses.get(row.id) ?? AWAY_MS
    pauses.set(row.id, Math.min(MOST_AWAY_MS, pause * 2))
    return await wait(pause)
  }
  const { migrate_to_chat_id: to } = failure
  if (to !== undefined && (await moveChannel(ground.db, row, to))) return
  const seen = await refreshChannel(ground, row)
  // Without the right the channel is no longer ready, and nothing is tried until Telegram reports the right.
  if ('ok' in seen || seen.state === 'ready')
    await wait(REFUSED_MS, { state_reason: `Telegram creates no link: ${failure.description}` })
}

/** A rate limit is the bot's, so its other channels pause as well. */
async function pauseOtherChannels(
  { db }: MakerGround,
  { org_id, id, bot_id }: StoredChannel,
  ms: number,
): Promise<void> {
  const until = await databaseTimeIn(db, ms)
  await sql`
    update channels set waiting_until = ${until}
    where org_id = ${org_id} and bot_id = ${bot_id} and id <> ${id} and deleted_at is null
      and (waiting_until is null or waiting_until < ${until})`.execute(db)
}

async function claim({ db }: MakerGround, { org_id, id }: ChannelId, token: string): Promise<boolean> {
  const until = await databaseTimeIn(db, LEASE_MS)
  const { numAffectedRows } = await sql`
    update channels set making_token = ${token}, making_until = ${until}
    where org_id = ${org_id} and id = ${id} and deleted_at is null and (making_until is null or making_until <= now())`.execute(
    db,
  )
  return numAffectedRows === 1n
}

/** Extends the claim and reads the channel; undefined if another process has claimed it, or if no links may be created now. */
async function keepClaim(
  { db }: MakerGround,
  { org_id, id }: ChannelId,
  token: string,
): Promise<StoredChannel | undefined> {
  const until = await databaseTimeIn(db, LEASE_MS)
  const [row] = await db
    .updateTable('channels')
    .set({ making_until: until })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('making_token', '=', token)
    .where('deleted_at', 'is', null)
    .where('state', '=', 'ready')
    .where(sql<boolean>`(waiting_until is null or waiting_until <= now())`)
    .where(sql<boolean>`exists (
      select from bots b
      where b.org_id = ${org_id} and b.id = channels.bot_id and b.deleted_at is null and b.token_state = 'ok'
        and (b.send_after is null or b.send_after <= now()))`)
    .returning(CHANNEL_COLUMNS)
    .$castTo<StoredChannel>()
    .execute()
  return row
}

async function release({ db }: MakerGround, { org_id, id }: ChannelId, token: string, look_ms: number): Promise<void> {
  const look_at = await databaseTimeIn(db, look_ms)
  await sql`
    update channels set making_token = null, making_until = null, look_at = ${look_at}
    where org_id = ${org_id} and id = ${id} and making_token = ${token}`.execute(db)
}
