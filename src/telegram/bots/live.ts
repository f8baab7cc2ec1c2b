/**
 * The bots that are told of updates, in memory: so that what a program behind is owed reaches it while the database is away. NOTIFY brings changes at
 * once, a look at what has changed lately is the truth behind it. Owns no table.
 */
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { listen } from '../../ground/db/listen.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { inTurn } from '../../ground/in-turn.ts'
import type { Ground } from '../../ground/room.ts'
import type { Mode } from './api.ts'
import { opened } from './rows.ts'

/** A bot as updates need it. `is_over`: it is deleted, and passed on only until its hook is given back. */
export type LiveBot = {
  readonly org_id: number
  readonly id: string
  readonly mode: Mode
  readonly secret_hash: Buffer
  readonly is_over: boolean
  readonly relay_url: string | undefined
  readonly relay_secret: string | undefined
  readonly relay_types: readonly string[]
  /** Sealed. */
  readonly token: Buffer
  /** Whether a start is answered with a message. */
  readonly has_welcome: boolean
  readonly accept_payments: boolean
  /** US dollars a Star, a decimal string; null: payments in Stars have no payout. */
  readonly stars_rate: string | null
  /** In small letters. */
  readonly opt_out_words: readonly string[]
  readonly keep_names: boolean
}

export type LiveBots = {
  find: (id: string) => LiveBot | undefined
  /** Looks into the database for one; undefined where it is not there. @throws what the database throws */
  search: (id: string) => Promise<LiveBot | undefined>
  refresh: () => Promise<void>
  close: () => Promise<void>
}

/** What a secret is recognized by. */
export const hashOf = (secret: string): Buffer => hash('sha256', secret, 'buffer')

const CHANNEL = 'sluice_bots'
const POLL_MS = 1000
/** A database that hangs must not hold the answer to a change that was made. */
const ANNOUNCE_MS = 2000
/** Covers transactions that committed after their time, and clocks of a sharded database's nodes. */
const OVERLAP = `interval '10 seconds'`

const FIELDS = `
  b.org_id, b.id, b.mode, b.relay_url, b.relay_secret, b.relay_types, b.deleted_at is not null as is_over,
  b.token, b.welcome is not null as has_welcome, b.accept_payments, b.stars_rate::text, b.opt_out_words, b.keep_names`
const CHANGED = (among: Among) => `
  select ${FIELDS}, h.secret_hash
  from bots b
  left join bot_hooks h on h.bot_id = b.id and h.org_id = b.org_id
  where greatest(b.created_at, b.deleted_at, b.updated_at) >= $1${among('b.org_id')}`

type Row = Omit<LiveBot, 'secret_hash' | 'relay_url' | 'relay_secret'> & {
  readonly relay_url: Buffer | null
  readonly relay_secret: Buffer | null
  readonly secret_hash: Buffer | null
}

const openedOf = new WeakMap<Kysely<Tables>, Set<LiveBots>>()

/** Loads the bots and keeps them fresh until it is closed. */
export async function openLiveBots({ database, db, log, secrets }: Ground): Promise<LiveBots> {
  const pool = database.clicks
  let bots = new Map<string, LiveBot>()
  let since = '-infinity'
  let isStale = false

  const read = async () => {
    const { rows: clock } = await pool.query<{ since: string }>(`select clock_timestamp() - ${OVERLAP} as since`)
    const { rows, isWhole } = await askEverywhere<Row>(pool, CHANGED, [since])
    for (const row of rows) {
      const bot = botOf(secrets, row)
      if (bot === undefined) bots.delete(row.id)
      else bots.set(row.id, bot)
    }
    // While a node of a cluster is away its changes are missed: then the next look asks from here again.
    if (isWhole) since = clock[0]?.since ?? since
  }
  const refresh = inTurn(read)
  const refreshed = () =>
    void refresh().then(
      () => {
        isStale = false
      },
      (error: unknown) => {
        if (!isStale) log.warn({ err: error }, 'bots cannot be refreshed; updates are taken by what is in memory')
        isStale = true
      },
    )
  const again = () => {
    since = '-infinity'
    refreshed()
  }
  const listening = await listen(database, CHANNEL, { told: refreshed, again })
  await refresh()
  const poll = setInterval(refreshed, POLL_MS)
  poll.unref()
  const live: LiveBots = {
    find: id => bots.get(id),
    search: id => searched(db, secrets, id),
    refresh,
    async close() {
      clearInterval(poll)
      openedOf.get(db)?.delete(live)
      await listening.close()
      await refresh.idle()
      bots = new Map()
    },
  }
  openedOf.set(db, (openedOf.get(db) ?? new Set()).add(live))
  return live
}

function botOf(secrets: Ground['secrets'], { secret_hash, relay_url, relay_secret, ...row }: Row): LiveBot | undefined {
  if (secret_hash === null) return undefined
  const isRelay = row.mode === 'relay'
  return {
    ...row,
    secret_hash,
    relay_url: isRelay ? opened(secrets, relay_url) : undefined,
    relay_secret: isRelay ? opened(secrets, relay_secret) : undefined,
  }
}

/** The hook first, which every node has; then the one row, where it lies. */
async function searched(db: Kysely<Tables>, secrets: Ground['secrets'], id: string): Promise<LiveBot | undefined> {
  const hook = await db
    .selectFrom('bot_hooks')
    .select(['org_id', 'secret_hash'])
    .where('bot_id', '=', id)
    .executeTakeFirst()
  if (hook === undefined) return undefined
  const { rows } = await sql<Omit<Row, 'secret_hash'>>`
    select ${sql.raw(FIELDS)} from bots b where b.org_id = ${hook.org_id} and b.id = ${id}`.execute(db)
  return rows[0] === undefined ? undefined : botOf(secrets, { ...rows[0], secret_hash: hook.secret_hash })
}

/**
 * Tells every process that bots have changed. To be called after the commit and awaited before the answer: then this process goes by the change
 * before its author is told that it was made, and the others within a second. Never rejects.
 */
export async function announceBots(db: Kysely<Tables>): Promise<void> {
  const here = [...(openedOf.get(db) ?? [])].map(live => live.refresh())
  const elsewhere = sql`select pg_notify(${CHANNEL}, '')`.execute(db)
  await Promise.race([Promise.allSettled([...here, elsewhere]), sleep(ANNOUNCE_MS, undefined, { ref: false })])
}
