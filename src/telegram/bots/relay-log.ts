/**
 * The log of forwarded updates: type, duration, and why the bot's program has not accepted one. Owns `relay_log`. It holds nothing of an update's
 * contents. It is written after the calls, and lines are lost while the database is away.
 */
import { sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { firstIdAt, newId, timeOfId } from '../../contract/ids.ts'
import { DAY_MS } from '../../contract/days.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import { type Context, type Ground, idOf } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'
import type * as api from './api.ts'
import type { LiveBot } from './live.ts'
import { liveBot } from './rows.ts'

const EVERY_MS = 1000
/** Lines buffered between two writes; further ones are dropped to save memory. */
const MOST_WAITING = 10_000
const KEPT_MS = 7 * DAY_MS
const MOST_KEPT = 1000
const MARKS_KEPT_MS = 2 * DAY_MS
const PAUSE_MS = 600_000

/** `status`: of the program's answer, null without one. `reason`: why the update was not accepted, null if it was. */
type RelayOutcome = {
  readonly type: string
  readonly status: number | null
  readonly ms: number
  readonly reason: string | null
}

type RelayLog = { note(bot: LiveBot, outcome: RelayOutcome): void; close(): Promise<void> }

type RelayLogRow = RelayOutcome & { org_id: number; bot_id: string; id: string }

export function openRelayLog({ db, log }: Pick<Ground, 'db' | 'log'>): RelayLog {
  let waiting: RelayLogRow[] = []
  const write = async () => {
    const lines = waiting
    waiting = []
    for (const [, own] of Map.groupBy(lines, ({ org_id }) => org_id))
      await db
        .insertInto('relay_log')
        .values(own)
        .execute()
        .catch((error: unknown) => log.debug({ err: error }, 'could not write the relay log'))
  }
  const rounds = openRounds('bots/relay-log', EVERY_MS, write, () => {})
  return {
    note({ org_id, id: bot_id }, outcome) {
      if (waiting.length < MOST_WAITING) waiting.push({ org_id, bot_id, id: newId(), ...outcome })
    },
    async close() {
      await rounds.close()
      await write()
    },
  }
}

/** Forwarded updates of a bot, newest first. Refuses `object_not_found`. */
export async function listRelays(
  { db, actor }: Context<typeof api.listRelays>,
  { params, query }: Call<typeof api.listRelays>,
) {
  const { org_id } = actor
  const { id } = await liveBot(db, org_id, idOf(params.id))
  const own = db.selectFrom('relay_log').where('org_id', '=', org_id).where('bot_id', '=', id)
  // Older lines and lines beyond the limit are hidden already, before the retention job deletes them.
  const last = await own
    .select('id')
    .orderBy('id', 'desc')
    .offset(MOST_KEPT - 1)
    .limit(1)
    .executeTakeFirst()
  const [tooOld, tooMuch = tooOld] = [firstIdAt(Date.now() - KEPT_MS), last?.id]
  const rows = own
    .select(['id', 'type', 'status', 'ms', 'reason'])
    .where('id', '>=', tooOld > tooMuch ? tooOld : tooMuch)
  const { data, next_cursor } = await newestFirst(rows, query)
  return { data: data.map(row => ({ ...row, at: new Date(timeOfId(row.id)).toISOString() })), next_cursor }
}

const LOGGED = (among: Among) =>
  `select org_id from relay_log where org_id > $1${among('org_id')} order by org_id limit 1`
const MARKED = (among: Among) =>
  `select org_id from relay_marks where org_id > $1${among('org_id')} order by org_id limit 1`

/** Deletes lines older than a week or beyond a bot's newest thousand, and marks of updates that Telegram cannot send again. */
export async function dropOldRelays(
  { database, db }: Pick<Ground, 'database' | 'db'>,
  now = Date.now(),
  most = MOST_KEPT,
): Promise<void> {
  for await (const org_id of organizationsWith(LOGGED, database.worker)) {
    const { rows } = await sql<{
      bot_id: string
    }>`select distinct bot_id from relay_log where org_id = ${org_id}`.execute(db)
    for (const { bot_id } of rows) {
      const kept = await sql<{ id: string }>`
        select id from relay_log where org_id = ${org_id} and bot_id = ${bot_id} order by id desc offset ${most - 1} limit 1`.execute(
        db,
      )
      const [tooOld, tooMuch = tooOld] = [firstIdAt(now - KEPT_MS), kept.rows[0]?.id]
      const before = tooOld > tooMuch ? tooOld : tooMuch
      await sql`delete from relay_log where org_id = ${org_id} and bot_id = ${bot_id} and id < ${before}`.execute(db)
    }
  }
  const before = new Date(now - MARKS_KEPT_MS).toISOString()
  for await (const org_id of organizationsWith(MARKED, database.worker))
    await sql`delete from relay_marks where org_id = ${org_id} and taken_until < ${before}`.execute(db)
}

/** Deletes every ten minutes until it is closed. Any number of processes may run it. */
export function openRelayRetention(ground: Pick<Ground, 'database' | 'db' | 'log'>): Rounds {
  return openRounds(
    'bots/relay-log-retention',
    PAUSE_MS,
    () => dropOldRelays(ground),
    error => ground.log.warn({ err: error }, 'could not delete old relay log lines; retrying'),
  )
}
