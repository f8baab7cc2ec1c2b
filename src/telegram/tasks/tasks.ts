/**
 * What a bot is to do by itself, soon or at a set time: answer a start, decide a request to join. Owns `bot_tasks`. A task is written with what it is
 * for, and done once: its key is unique, one process at a time has it in hand, and what a process says of a task that another one has taken over is not heard.
 * Where a process ended in the middle of a message, nobody knows whether it arrived: `is_cut` says so, and who sends it decides.
 */
import type { Kysely } from 'kysely'
import { newId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { isAway, type Failure } from '../bots/telegram.ts'

type TaskKind = 'welcome' | 'request_message' | 'approve' | 'decline' | 'answer_query' | 'leave'

/** A task as it is asked for. Times are ISO 8601; `asked` is what it needs besides, never what people wrote. */
type NewTask = {
  readonly org_id: number
  readonly bot_id: string
  readonly telegram_user_id: string
  readonly kind: TaskKind
  /** What it is done for, once per bot and kind. */
  readonly once_key: string
  readonly asked: Readonly<Record<string, unknown>>
  readonly due_at: string
  readonly give_up_at: string
}

/** A task in hand. `is_cut`: a process had it in hand before and ended without a word. `tries` counts this one. */
export type Task = NewTask & {
  readonly id: string
  readonly created_at: string
  readonly tries: number
  readonly is_cut: boolean
}

/** What came of one try. `gone`: there is nothing left to do; reasons are shown. `again`: in so many seconds, unless it is given up by then. */
export type TaskOutcome =
  | { readonly is: 'done' }
  | { readonly is: 'gone' | 'failed'; readonly reason: string }
  | { readonly is: 'again'; readonly after_s: number; readonly isSilence?: boolean; readonly isRevoked?: boolean }

/** The bot a task is done by. */
export type TaskBot = { readonly org_id: number; readonly id: string; readonly token: string }

/**
 * Does one task. `leaves` is called right before a message that must not be sent twice is on its way: throwing after that leaves the task in hand, and
 * it comes again when the lease ends, `is_cut` then; throwing before it has the task tried again soon.
 */
type TaskRunner = (task: Task, bot: TaskBot, leaves: () => void) => Promise<TaskOutcome>
export type TaskRunners = { readonly [Kind in TaskKind]?: TaskRunner }

/**
 * Writes a task; false where there is one of its key already. To be told with `wakeTasks` after the commit, so that it is done at once.
 */
export async function insertTask(trx: Kysely<Tables>, task: NewTask): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('bot_tasks')
    .values({
      ...task,
      id: newId(),
      asked: JSON.stringify(task.asked),
      state: 'waiting',
      created_at: new Date().toISOString(),
    })
    .onConflict(on => on.columns(['org_id', 'bot_id', 'kind', 'once_key']).doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** A Telegram that is away is asked again so soon. */
const AWAY_S = 5
/** Until the watch has found out that the token is revoked: then nothing is done before there is a new one. */
const REVOKED_S = 10
/** Said of a message of which nobody knows whether it arrived: it is not sent twice. */
export const ARRIVAL_UNKNOWN = 'nobody knows whether it arrived: Telegram did not answer'

/**
 * What is to be done after a call that came to nothing. `mayRepeat`: it does no harm to make it twice, as with a decision; a message whose answer was
 * lost is not sent again. What Telegram says no to ends as `refused`.
 */
export function afterFailure(
  failure: Failure,
  { mayRepeat = false, refused = 'failed' }: { mayRepeat?: boolean; refused?: 'gone' | 'failed' } = {},
): TaskOutcome {
  const { kind, description, retry_after = 1 } = failure
  if (kind === 'later') return { is: 'again', after_s: retry_after, isSilence: true }
  // Whether the token is revoked is the watch's to find out; a new one may come.
  if (kind === 'token') return { is: 'again', after_s: REVOKED_S, isSilence: true, isRevoked: true }
  if (kind === 'unknown' && !mayRepeat) return { is: 'failed', reason: ARRIVAL_UNKNOWN }
  if (isAway(failure)) return { is: 'again', after_s: AWAY_S }
  return { is: refused, reason: description }
}

const wakersOf = new WeakMap<Kysely<Tables>, Set<() => void>>()

/** Has the tasks of this process looked at now. Other processes look every second. */
export function wakeTasks(db: Kysely<Tables>): void {
  for (const wake of wakersOf.get(db) ?? []) wake()
}

/** Calls `wake` from now on; the answer ends that. */
export function onWake(db: Kysely<Tables>, wake: () => void): () => void {
  const wakers = wakersOf.get(db) ?? new Set()
  wakersOf.set(db, wakers.add(wake))
  return () => void wakers.delete(wake)
}
