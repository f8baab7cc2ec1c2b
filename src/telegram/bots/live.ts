/**
 * Caches the bots that receive updates in memory, so that updates are forwarded while the database is away. NOTIFY brings changes at once; the poll
 * for changed rows is authoritative. Owns no table.
 */
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { listen } from '../../ground/db/listen.ts'
import { afterCommit } from '../../ground/db/one-transaction.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { openQuiet, QUIET_MS } from '../../ground/db/quiet.ts'
import { inTurn } from '../../ground/in-turn.ts'
import type { Ground } from '../../ground/room.ts'
import type { Mode } from './api.ts'
import { openSealed } from './rows.ts'

/** A bot as updates need it. `is_over`: it is deleted, and only forwards updates until its former webhook is restored. */
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
  readonly has_welcome: boolean
  readonly accept_payments: boolean
  /** US dollars per Star, a decimal string; null: payments in Stars have no payout. */
  readonly stars_rate: string | null
  /** In lower case. */
  readonly opt_out_words: readonly string[]
  readonly keep_names: boolean
}

export type LiveBots = {
  find: (id: string) => LiveBot | undefined
  /** Reads one bot from the database; undefined if there is none. @throws database errors */
  search: (id: string) => Promise<LiveBot | undefined>
  refresh: () => Promise<void>
  close: () => Promise<void>
}

/** The stored hash of a webhook secret. */
export const secretHash = (secret: string): Buffer => hash('sha256', secret, 'buffer')

const CHANNEL = 'sluice_bots'
/** A hanging database must not delay the answer to a change that is already committed. */
const ANNOUNCE_MS = 2000
/** Covers transactions that commit later than their timestamps, and clock differences between nodes of a cluster. */
const OVERLAP = `interval '10 seconds'`

const FIELDS = `
  b.org_id, b.id, b.mode, b.relay_url, b.relay_secret, b.relay_types, b.deleted_at is not null as is_over,
  b.token, b.welcome is not null as has_welcome, b.accept_payments, b.stars_rate::text, b.opt_out_words, b.keep_names`
const CHANGED = (among: Among) => `
  select ${FIELDS}, h.secret_hash
  from bots b
  left join bot_hooks h on h.bot_id = b.id and h.org_id = b.org_id
  where greatest(b.created_at, b.deleted_at, b.updated_at) >= $1${among('b.org_id')}`

type LiveBotRow = Omit<LiveBot, 'secret_hash' | 'relay_url' | 'relay_secret'> & {
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
  let again: NodeJS.Timeout | undefined

  const read = async () => {
    const { rows: clock } = await pool.query<{ since: string }>(`select clock_timestamp() - ${OVERLAP} as since`)
    const { rows, isWhole } = await askEverywhere<LiveBotRow>(pool, CHANGED, [since])
    for (const row of rows) {
      const bot = liveBotIn(secrets, row)
      if (bot === undefined) bots.delete(row.id)
      else bots.set(row.id, bot)
    }
    // If a node of a cluster is away, its changes are missing, so the next poll starts from the same time.
    if (isWhole) since = clock[0]?.since ?? since
  }
  const refresh = inTurn(read)
  const startRefresh = () =>
    void refresh().then(
      () => {
        isStale = false
      },
      (error: unknown) => {
        if (!isStale) log.warn({ err: error }, 'could not refresh bots; keeping the previous ones')
        isStale = true
        clearTimeout(again)
        again = setTimeout(startRefresh, QUIET_MS).unref()
      },
    )
  const onReconnect = () => {
    since = '-infinity'
    startRefresh()
  }
  const listening = await listen(database, CHANNEL, { onNotify: startRefresh, onReconnect })
  await refresh()
  const quiet = openQuiet(database.worker)
  quiet.onMove(startRefresh)
  const live: LiveBots = {
    find: id => bots.get(id),
    search: id => findBot(db, secrets, id),
    refresh,
    async close() {
      quiet.close()
      clearTimeout(again)
      openedOf.get(db)?.delete(live)
      await listening.close()
      await refresh.idle()
      bots = new Map()
    },
  }
  openedOf.set(db, (openedOf.get(db) ?? new Set()).add(live))
  return live
}

function liveBotIn(
  secrets: Ground['secrets'],
  { secret_hash, relay_url, relay_secret, ...row }: LiveBotRow,
): LiveBot | undefined {
  if (secret_hash === null) return undefined
  const isRelay = row.mode === 'relay'
  return {
    ...row,
    secret_hash,
    relay_url: isRelay ? openSealed(secrets, relay_url) : undefined,
    relay_secret: isRelay ? openSealed(secrets, relay_secret) : undefined,
  }
}

/** Reads `bot_hooks` first, because every node has it, then the bot's row on its own node. */
async function findBot(db: Kysely<Tables>, secrets: Ground['secrets'], id: string): Promise<LiveBot | undefined> {
  const hook = await db
    .selectFrom('bot_hooks')
    .select(['org_id', 'secret_hash'])
    .where('bot_id', '=', id)
    .executeTakeFirst()
  if (hook === undefined) return undefined
  const { rows } = await sql<Omit<LiveBotRow, 'secret_hash'>>`
    select ${sql.raw(FIELDS)} from bots b where b.org_id = ${hook.org_id} and b.id = ${id}`.execute(db)
  return rows[0] === undefined ? undefined : liveBotIn(secrets, { ...rows[0], secret_hash: hook.secret_hash })
}

/**
 * Tells every process that bots have changed, once that is committed. Await it before the answer: then this process already uses the change when
 * the caller gets the answer, and the others use it within a second. Never rejects.
 */
export const announceBots = (changed: Kysely<Tables>): Promise<void> =>
  afterCommit(changed, async db => {
    const here = [...(openedOf.get(db) ?? [])].map(live => live.refresh())
    const elsewhere = sql`select pg_notify(${CHANNEL}, '')`.execute(db)
    await Promise.race([Promise.allSettled([...here, elsewhere]), sleep(ANNOUNCE_MS, undefined, { ref: false })])
  })
