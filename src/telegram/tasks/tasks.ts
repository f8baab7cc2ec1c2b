/**
 * The queue of actions that bots take at once or at a set time: welcome messages, decisions about join requests. Owns `bot_tasks`. A task runs once: its
 * key is unique, one process at a time holds its lease, and a process that has lost the lease cannot record a result. If a process died while
 * sending a message, the message may have arrived: `is_cut` says so, and the task's runner decides what to do.
 */
import type { Kysely } from 'kysely'
import { newId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { isAway, type Failure } from '../bots/telegram.ts'

type TaskKind = 'welcome' | 'request_message' | 'approve' | 'decline' | 'answer_query' | 'leave'

/** A new task. Times are ISO 8601; `asked` holds its parameters, never message texts. */
type NewTask = {
  readonly org_id: number
  readonly bot_id: string
  readonly telegram_user_id: string
  readonly kind: TaskKind
  /** Unique per bot and kind. */
  readonly once_key: string
  readonly asked: Readonly<Record<string, unknown>>
  readonly due_at: string
  readonly give_up_at: string
}

/** A leased task. `is_cut`: a process that held it before died without recording a result. `tries` includes this one. */
export type Task = NewTask & {
  readonly id: string
  readonly created_at: string
  readonly tries: number
  readonly is_cut: boolean
}

/** The result of one try. `gone`: there is nothing left to do. Reasons are shown on screens. `again`: retry after `after_s`, unless `give_up_at` comes first. */
export type TaskOutcome =
  | { readonly is: 'done' }
  | { readonly is: 'gone' | 'failed'; readonly reason: string }
  | { readonly is: 'again'; readonly after_s: number; readonly isSilence?: boolean; readonly isRevoked?: boolean }

/** The bot that runs a task. */
export type TaskBot = { readonly org_id: number; readonly id: string; readonly token: string }

/**
 * Runs one task. It calls `leaves` right before it sends a message that must not be sent twice. If it throws after that, the task stays leased and
 * comes again with `is_cut` when the lease ends; if it throws before, the task is retried soon.
 */
type TaskRunner = (task: Task, bot: TaskBot, leaves: () => void) => Promise<TaskOutcome>
export type TaskRunners = { readonly [Kind in TaskKind]?: TaskRunner }

/**
 * Inserts a task; false if its key exists already. Call `wakeTasks` after the commit, so that it runs at once.
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

/** The retry pause while Telegram is away. */
const AWAY_S = 5
/** The retry pause until the watch has marked the token as revoked; then tasks wait for a new token. */
const REVOKED_S = 10
/** The reason of a message whose answer was lost. It is not sent again. */
export const ARRIVAL_UNKNOWN = 'it may have arrived: Telegram did not answer'

/**
 * The outcome of a failed call. `mayRepeat`: the call is harmless when repeated, such as a decision; without it, a call whose answer was lost is not
 * repeated. A call that Telegram rejects ends as `refused`.
 */
export function afterFailure(
  failure: Failure,
  { mayRepeat = false, refused = 'failed' }: { mayRepeat?: boolean; refused?: 'gone' | 'failed' } = {},
): TaskOutcome {
  const { kind, description, retry_after = 1 } = failure
  if (kind === 'later') return { is: 'again', after_s: retry_after, isSilence: true }
  // The watch decides whether the token is really revoked; a new one may be entered.
  if (kind === 'token') return { is: 'again', after_s: REVOKED_S, isSilence: true, isRevoked: true }
  if (kind === 'unknown' && !mayRepeat) return { is: 'failed', reason: ARRIVAL_UNKNOWN }
  if (isAway(failure)) return { is: 'again', after_s: AWAY_S }
  return { is: refused, reason: description }
}

const wakersOf = new WeakMap<Kysely<Tables>, Set<() => void>>()

/** Makes this process look for due tasks now. Other processes poll every second. */
export function wakeTasks(db: Kysely<Tables>): void {
  for (const wake of wakersOf.get(db) ?? []) wake()
}

/** Calls `wake` at every `wakeTasks` of this database; returns the function that stops it. */
export function onWake(db: Kysely<Tables>, wake: () => void): () => void {
  const wakers = wakersOf.get(db) ?? new Set()
  wakersOf.set(db, wakers.add(wake))
  return () => void wakers.delete(wake)
}
