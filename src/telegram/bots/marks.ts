/**
 * Marks forwarded updates, so that the bot's program gets each update once, whichever process receives it and however often Telegram sends it. Owns
 * `relay_marks`. While the database is away, a process uses only its own memory.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type Transaction } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import type { LiveBot } from './live.ts'
import type { BotId } from './rows.ts'

/** Longer than most programs need. A slower program gets an update twice only if Telegram sends it twice at the same time. */
const CLAIM_TIME = `interval '10 seconds'`
/** A hanging database must not delay forwarding. */
const PATIENCE_MS = 500
/** Enough for an outage of hours: a mark takes about a hundred bytes, plus the program's answer that is stored for repeats. */
const MOST_BYTES = 64 * 1024 * 1024
const MARK_BYTES = 100

/** The program's answer if it is a Bot API call. */
export type ProgramReply = { readonly body: Buffer | undefined }

/** `ours`: this process forwards it. `held`: another process is forwarding it. A reply: it was forwarded before. */
type MarkClaim = 'ours' | 'held' | ProgramReply

type RelayMarks = {
  claim(bot: LiveBot, update_id: number): Promise<MarkClaim>
  /** The update was forwarded. */
  markForwarded(bot: LiveBot, update_id: number, reply: ProgramReply): Promise<void>
  /** Forwarding failed, and may be retried at once. */
  release(bot: LiveBot, update_id: number): Promise<void>
}

/** Whether an update that is not forwarded comes for the first time. Deleted with the other marks. */
export async function isFirstDelivery(
  trx: Transaction<Tables>,
  { org_id, id }: BotId,
  update_id: number,
): Promise<boolean> {
  const made = await sql`
    insert into relay_marks (org_id, bot_id, update_id, taken_until)
    values (${org_id}, ${id}, ${update_id}, now()) on conflict do nothing`.execute(trx)
  return made.numAffectedRows === 1n
}

export function openMarks({ db, log }: Pick<Ground, 'db' | 'log'>): RelayMarks {
  const remembered = new LRUCache<string, ProgramReply>({
    maxSize: MOST_BYTES,
    sizeCalculation: ({ body }) => MARK_BYTES + (body?.length ?? 0),
  })
  const keyOf = ({ id }: LiveBot, update_id: number) => `${id} ${update_id}`
  /** Returns `instead` if the database does not answer in time. */
  const withTimeout = async <T>(work: Promise<T>, instead: T): Promise<T> => {
    const settled = work.catch((error: unknown) => {
      log.debug({ err: error }, 'could not reach the marks of forwarded updates')
      return instead
    })
    return Promise.race([settled, sleep(PATIENCE_MS, instead, { ref: false })])
  }

  const claimInDatabase = async ({ org_id, id }: LiveBot, update_id: number): Promise<MarkClaim> => {
    const made = await sql`
      insert into relay_marks (org_id, bot_id, update_id, taken_until)
      values (${org_id}, ${id}, ${update_id}, now() + ${sql.raw(CLAIM_TIME)})
      on conflict do nothing`.execute(db)
    if (made.numAffectedRows === 1n) return 'ours'
    const { rows } = await sql<{ is_passed: boolean; is_over: boolean }>`
      select passed_at is not null as is_passed, taken_until <= now() as is_over
      from relay_marks where org_id = ${org_id} and bot_id = ${id} and update_id = ${update_id}`.execute(db)
    if (rows[0]?.is_passed === true) return { body: undefined }
    if (rows[0]?.is_over !== true) return 'held'
    const again = await sql`
      update relay_marks set taken_until = now() + ${sql.raw(CLAIM_TIME)}
      where org_id = ${org_id} and bot_id = ${id} and update_id = ${update_id} and passed_at is null and taken_until <= now()`.execute(
      db,
    )
    return again.numAffectedRows === 1n ? 'ours' : 'held'
  }

  return {
    async claim(bot, update_id) {
      return remembered.get(keyOf(bot, update_id)) ?? (await withTimeout(claimInDatabase(bot, update_id), 'ours'))
    },
    async markForwarded(bot, update_id, reply) {
      remembered.set(keyOf(bot, update_id), reply)
      const { org_id, id } = bot
      const noted = sql`
        update relay_marks set passed_at = now()
        where org_id = ${org_id} and bot_id = ${id} and update_id = ${update_id}`.execute(db)
      await withTimeout(noted, undefined)
    },
    async release({ org_id, id }, update_id) {
      const freed = sql`
        delete from relay_marks
        where org_id = ${org_id} and bot_id = ${id} and update_id = ${update_id} and passed_at is null`.execute(db)
      await withTimeout(freed, undefined)
    },
  }
}
