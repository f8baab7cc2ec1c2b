/**
 * Makes invite links beforehand, so that no visitor waits for Telegram: of each channel as many as its busiest minutes need. One process at a time
 * makes them for a channel, one call after another, as fast as Telegram lets it. A link is never revoked: it ends by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { DAY_MS, MINUTE_MS } from '../../contract/days.ts'
import { newId } from '../../contract/ids.ts'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import {
  BATCH,
  BATCH_OF_MANY,
  busiestTenMinutes,
  campaignsWithoutLink,
  countFree,
} from '../../traffic/invite-links/making.ts'
import { checkSoon } from '../bots/check-soon.ts'
import { noteFree } from './figures.ts'
import { type Failed, makeLink, type Paces, slowDown } from './make.ts'
import { botCredentials, refreshChannel } from './channels.ts'
import { CHANNEL_COLUMNS, moveChannel, type StoredChannel, writeChannel } from './rows.ts'

const POLL_MS = 1000
/** A process that is gone is taken for it after this. */
const LEASE_MS = 30_000
/** Looked at again so soon where links are used, else so late. */
const BUSY_MS = 2000
const QUIET_MS = 30_000
/** Between two counts so many are made. */
const PORTION = 10
/** Of the links that were wanted. */
const MOST_WANTED = 5000
/** Of these the batches are larger. */
const MANY = 1000
const LOW = 10
/** Telegram says no, though the bot has the right: then it is tried again so late. */
const REFUSED_MS = 10 * MINUTE_MS
const AWAY_MS = 5000
const MOST_AWAY_MS = MINUTE_MS
const AT_ONCE = 20

type Making = Pick<Ground, 'db' | 'database' | 'config' | 'secrets' | 'log'>
type ChannelId = { readonly org_id: number; readonly id: string }

const OPEN = `
  o.deleted_at is null and c.deleted_at is null and c.state = 'ready' and b.deleted_at is null and b.token_state = 'ok'
    and (b.send_after is null or b.send_after <= now())
    and (c.waiting_until is null or c.waiting_until <= now()) and (c.making_until is null or c.making_until <= now())`
const OF_WHOM = `
  join bots b on b.org_id = c.org_id and b.id = c.bot_id
  join organizations o on o.org_id = c.org_id`

const DUE = (among: Among) => `
  select c.org_id, c.id
  from channels c
  ${OF_WHOM}
  where ${OPEN} and (c.look_at is null or c.look_at <= now())${among('c.org_id')}${among('b.org_id')}
  limit ${AT_ONCE}`

/** Channels into which a campaign leads since a moment ago, which has no link to share yet. */
const LACKING = (among: Among) => `
  select distinct c.org_id, c.id
  from campaigns k
  join channels c on c.org_id = k.org_id and c.id = (k.destination -> 'channel' ->> 'channel_id')::uuid
  ${OF_WHOM}
  left join channel_links l on l.org_id = k.org_id and l.channel_id = c.id and l.campaign_id = k.id
    and l.purpose = 'shared' and l.state <> 'dead'${among('l.org_id')}
  where ${OPEN} and k.deleted_at is null and k.status <> 'archived' and k.destination ->> 'channel' is not null
    and l.id is null${among('c.org_id')}${among('b.org_id')}${among('k.org_id')}
  limit ${AT_ONCE}`

/** What tests set: how long it waits after its first call. */
export type MakerOptions = { readonly link_pause_ms?: number | undefined }

/** Makes links until it is closed; any number of processes may. */
export function openLinkMaker(ground: Making, { link_pause_ms = 1000 }: MakerOptions = {}): Rounds {
  const paces: Paces = { first_ms: link_pause_ms, of: new Map() }
  const pauses = new Map<string, number>()
  const running = new Map<string, Promise<void>>()
  const rounds = openRounds(
    'channels/maker',
    POLL_MS,
    async signal => {
      const { worker } = ground.database
      const due = (await askEverywhere<ChannelId>(worker, DUE)).rows
      const lacking = (await askEverywhere<ChannelId>(worker, LACKING)).rows
      for (const channel of [...due, ...lacking]) {
        if (signal.aborted || running.has(channel.id) || running.size >= AT_ONCE) continue
        const ran = makeFor(ground, { paces, pauses, signal }, channel)
          .catch((error: unknown) =>
            ground.log.warn({ err: error }, 'links of a channel could not be made; it is tried again'),
          )
          .finally(() => running.delete(channel.id))
        running.set(channel.id, ran)
      }
    },
    error => ground.log.warn({ err: error }, 'channels could not be looked at; it is tried again'),
  )
  return {
    async close() {
      await rounds.close()
      await Promise.all(running.values())
    },
  }
}

type Going = { readonly paces: Paces; readonly pauses: Map<string, number>; readonly signal: AbortSignal }

/** Makes what a channel lacks, if no other process does. */
async function makeFor(ground: Making, going: Going, of: ChannelId): Promise<void> {
  const token = newId()
  if (!(await claim(ground, of, token))) return
  let look_ms = QUIET_MS
  try {
    for (;;) {
      const row = await held(ground, of, token)
      if (row === undefined || going.signal.aborted) {
        // As soon as links may be made again.
        look_ms = 0
        return
      }
      const { isUsed, ...next } = await wantedOf(ground, row)
      look_ms = isUsed ? BUSY_MS : QUIET_MS
      if (next.wanted.length === 0) return
      const met = await makeSome(ground, going, { of, token }, next)
      if (met !== undefined) {
        // As soon as the waiting is over.
        look_ms = 0
        return await giveWay(ground, going, met.row, met.failed)
      }
      going.pauses.delete(row.id)
    }
  } finally {
    await release(ground, of, token, going.signal.aborted ? 0 : look_ms)
  }
}

type Holding = { readonly of: ChannelId; readonly token: string }
type Met = { readonly row: StoredChannel; readonly failed: Failed }

/** Makes links one after another, each as the channel is by then; answers why it ended early. */
async function makeSome(
  ground: Making,
  { paces, signal }: Going,
  { of, token }: Holding,
  { wanted, of_batch }: Omit<Wanted, 'isUsed'>,
): Promise<Met | undefined> {
  for (const campaign_id of wanted) {
    const row = await held(ground, of, token)
    const bot = row && (await botCredentials(ground, row.org_id, row.bot_id))
    if (row === undefined || bot === undefined || signal.aborted) return undefined
    const failed = await makeLink(ground, paces, { row, bot, campaign_id, of_batch })
    if (failed !== undefined) return { row, failed }
    await sleep(paces.of.get(row.id) ?? paces.first_ms, undefined, { signal }).catch(() => {})
  }
  return undefined
}

type Wanted = { readonly wanted: (string | null)[]; readonly of_batch: number; readonly isUsed: boolean }

/** The links to be made next: those that campaigns share first, by the campaign, then some of the pool. */
async function wantedOf({ db }: Making, row: StoredChannel): Promise<Wanted> {
  const of = { org_id: row.org_id, channel_id: row.id }
  const [free, busiest, lacking] = await Promise.all([
    countFree(db, of, row.link_days),
    busiestTenMinutes(db, of),
    campaignsWithoutLink(db, of),
  ])
  noteFree(row.id, free)
  const target = Math.min(MOST_WANTED, Math.max(row.pool_min, 2 * busiest))
  await noteLow({ db }, row, busiest > 0 && free * LOW < target, free * 2 >= target)
  const pool = Array.from({ length: Math.max(0, Math.min(PORTION, target - free)) }, () => null)
  const of_batch = target >= MANY ? BATCH_OF_MANY : BATCH
  return { wanted: [...lacking.map(({ campaign_id }) => campaign_id), ...pool], of_batch, isUsed: busiest > 0 }
}

/** Owners are told once that links run out, and again when they do so after there were enough. */
async function noteLow(
  { db }: Pick<Making, 'db'>,
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

/** After a call that failed: exactly as long as Telegram has asked for, or until a person may have mended what is wrong. */
async function giveWay(ground: Making, { paces, pauses }: Going, row: StoredChannel, failed: Failed): Promise<void> {
  const wait = async (ms: number, more: object = {}) =>
    void (await writeChannel(ground.db, row, {
      // Another channel of the bot may have been told to wait longer.
      waiting_until: sql<string>`greatest(waiting_until, ${await databaseTimeIn(ground.db, ms)}::timestamptz)`,
      ...more,
    }))
  if (failed.kind === 'later') {
    slowDown(paces, row.id)
    const asked_ms = Math.min(DAY_MS, (failed.retry_after ?? 1) * 1000)
    await wait(asked_ms)
    return await waitElsewhere(ground, row, asked_ms)
  }
  if (failed.kind === 'token') {
    await checkSoon(ground.db, { org_id: row.org_id, id: row.bot_id })
    return await wait(AWAY_MS)
  }
  if (failed.kind === 'unsent' || failed.kind === 'unknown') {
    const pause = pauses.get(row.id) ?? AWAY_MS
    pauses.set(row.id, Math.min(MOST_AWAY_MS, pause * 2))
    return await wait(pause)
  }
  const { migrate_to_chat_id: to } = failed
  if (to !== undefined && (await moveChannel(ground.db, row, to))) return
  const seen = await refreshChannel(ground, row)
  // Where the right is missing it says so by now, and nothing is tried until Telegram tells otherwise.
  if ('ok' in seen || seen.state === 'ready')
    await wait(REFUSED_MS, { state_reason: `Telegram makes no link: ${failed.description}` })
}

/** It is the bot that has called too often: its other channels wait as well. */
async function waitElsewhere({ db }: Making, { org_id, id, bot_id }: StoredChannel, ms: number): Promise<void> {
  const until = await databaseTimeIn(db, ms)
  await sql`
    update channels set waiting_until = ${until}
    where org_id = ${org_id} and bot_id = ${bot_id} and id <> ${id} and deleted_at is null
      and (waiting_until is null or waiting_until < ${until})`.execute(db)
}

async function claim({ db }: Making, { org_id, id }: ChannelId, token: string): Promise<boolean> {
  const until = await databaseTimeIn(db, LEASE_MS)
  const { numAffectedRows } = await sql`
    update channels set making_token = ${token}, making_until = ${until}
    where org_id = ${org_id} and id = ${id} and deleted_at is null and (making_until is null or making_until <= now())`.execute(
    db,
  )
  return numAffectedRows === 1n
}

/** Holds on to the channel, and reads it; undefined where another process has it by now, or none is to make links. */
async function held({ db }: Making, { org_id, id }: ChannelId, token: string): Promise<StoredChannel | undefined> {
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

async function release({ db }: Making, { org_id, id }: ChannelId, token: string, look_ms: number): Promise<void> {
  const look_at = await databaseTimeIn(db, look_ms)
  await sql`
    update channels set making_token = null, making_until = null, look_at = ${look_at}
    where org_id = ${org_id} and id = ${id} and making_token = ${token}`.execute(db)
}
