/**
 * Which updates have been passed on: each to the program behind once, whichever process it comes to and however often Telegram tells it. Owns
 * `relay_marks`. While the database is away a process goes by what it remembers itself.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type Transaction } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import type { LiveBot } from './live.ts'
import type { BotId } from './rows.ts'

/** Longer than most programs take. One that takes longer is told again only where Telegram itself asks twice at a time. */
const HELD = `interval '10 seconds'`
/** A database that hangs must not hold up what a program is owed. */
const PATIENCE_MS = 500
/** Of an outage of hours; a mark takes a hundred bytes, an answer that is kept for the repeat what it is. */
const MOST_BYTES = 64 * 1024 * 1024
const MARK_BYTES = 100

/** What a program has answered, where that is a call of the Bot API. */
export type Answered = { readonly body: Buffer | undefined }

/** `ours`: to be passed on here. `held`: another process is at it. */
type Standing = 'ours' | 'held' | Answered

type Marks = {
  take(bot: LiveBot, update_id: number): Promise<Standing>
  /** It was passed on. */
  pass(bot: LiveBot, update_id: number, answered: Answered): Promise<void>
  /** It was not, and may be tried again at once. */
  free(bot: LiveBot, update_id: number): Promise<void>
}

/** Whether an update that is passed on to nobody is told for the first time. Forgotten with the other marks. */
export async function isFirstTold(
  trx: Transaction<Tables>,
  { org_id, id }: BotId,
  update_id: number,
): Promise<boolean> {
  const made = await sql`
    insert into relay_marks (org_id, bot_id, update_id, taken_until)
    values (${org_id}, ${id}, ${update_id}, now()) on conflict do nothing`.execute(trx)
  return made.numAffectedRows === 1n
}

/** Opens the marks of a process. */
export function openMarks({ db, log }: Pick<Ground, 'db' | 'log'>): Marks {
  const remembered = new LRUCache<string, Answered>({
    maxSize: MOST_BYTES,
    sizeCalculation: ({ body }) => MARK_BYTES + (body?.length ?? 0),
  })
  const keyOf = ({ id }: LiveBot, update_id: number) => `${id} ${update_id}`
  /** `instead` where the database does not answer in time. */
  const patiently = async <T>(work: Promise<T>, instead: T): Promise<T> => {
    const heard = work.catch((error: unknown) => {
      log.debug({ err: error }, 'the marks of passed updates cannot be reached')
      return instead
    })
    return Promise.race([heard, sleep(PATIENCE_MS, instead, { ref: false })])
  }

  const taken = async ({ org_id, id }: LiveBot, update_id: number): Promise<Standing> => {
    const made = await sql`
      insert into relay_marks (org_id, bot_id, update_id, taken_until)
      values (${org_id}, ${id}, ${update_id}, now() + ${sql.raw(HELD)})
      on conflict do nothing`.execute(db)
    if (made.numAffectedRows === 1n) return 'ours'
    const { rows } = await sql<{ is_passed: boolean; is_over: boolean }>`
      select passed_at is not null as is_passed, taken_until <= now() as is_over
      from relay_marks where org_id = ${org_id} and bot_id = ${id} and update_id = ${update_id}`.execute(db)
    if (rows[0]?.is_passed === true) return { body: undefined }
    if (rows[0]?.is_over !== true) return 'held'
    const again = await sql`
      update relay_marks set taken_until = now() + ${sql.raw(HELD)}
      where org_id = ${org_id} and bot_id = ${id} and update_id = ${update_id} and passed_at is null and taken_until <= now()`.execute(
      db,
    )
    return again.numAffectedRows === 1n ? 'ours' : 'held'
  }

  return {
    async take(bot, update_id) {
      return remembered.get(keyOf(bot, update_id)) ?? (await patiently(taken(bot, update_id), 'ours'))
    },
    async pass(bot, update_id, answered) {
      remembered.set(keyOf(bot, update_id), answered)
      const { org_id, id } = bot
      const noted = sql`
        update relay_marks set passed_at = now()
        where org_id = ${org_id} and bot_id = ${id} and update_id = ${update_id}`.execute(db)
      await patiently(noted, undefined)
    },
    async free({ org_id, id }, update_id) {
      const freed = sql`
        delete from relay_marks
        where org_id = ${org_id} and bot_id = ${id} and update_id = ${update_id} and passed_at is null`.execute(db)
      await patiently(freed, undefined)
    },
  }
}
