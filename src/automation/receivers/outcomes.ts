/** Writes how an attempt went: the message's state or next due time, and the receiver's state. */
import type { Kysely } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import { delayAfter } from '../../outgoing/deliveries/schedule.ts'
import { receiverRows } from './rows.ts'
import type { ClaimedMessage } from './turns.ts'

/**
 * `failed`: it is sent again on the outbox's schedule, and given up after its last attempt. `again`: it could not be tried, which does not count.
 * `broken_off`: this process was closing.
 */
export type AttemptOutcome =
  | { readonly is: 'sent' }
  | { readonly is: 'broken_off' }
  | { readonly is: 'failed'; readonly error: string; readonly retry_after_ms?: number | undefined }
  | { readonly is: 'again'; readonly after_ms: number; readonly chat_id?: string }

const LONGEST_ERROR = 300

/** Writes the outcome, unless another process holds the message by now. */
export async function recordOutcome(
  db: Kysely<Tables>,
  message: ClaimedMessage,
  outcome: AttemptOutcome,
): Promise<void> {
  const { id, token, receiver } = message
  const { org_id } = receiver
  await db.transaction().execute(async trx => {
    // Locked first, as by whoever claims or deletes, so that no two wait for each other.
    await receiverRows(trx, org_id).where('id', '=', receiver.id).forUpdate().execute()
    const { numUpdatedRows } = await trx
      .updateTable('receiver_messages')
      .set({ ...after(message, outcome, Date.now()), lease_token: null, lease_until: null })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .where('lease_token', '=', token)
      .where('state', '=', 'waiting')
      .executeTakeFirst()
    const changes = numUpdatedRows === 0n ? {} : ofReceiver(outcome)
    if (Object.keys(changes).length === 0) return
    await trx.updateTable('receivers').set(changes).where('org_id', '=', org_id).where('id', '=', receiver.id).execute()
  })
}

/** The columns of the message. */
function after({ attempts }: ClaimedMessage, outcome: AttemptOutcome, now: number) {
  const at = (ms: number) => new Date(ms).toISOString()
  if (outcome.is === 'broken_off') return {}
  if (outcome.is === 'again') return { due_at: at(now + outcome.after_ms) }
  const number = attempts + 1
  if (outcome.is === 'sent') return { attempts: number, state: 'sent', ended_at: at(now) }
  const delay = delayAfter(number, { retry_after_ms: outcome.retry_after_ms })
  return delay === undefined
    ? { attempts: number, state: 'failed', ended_at: at(now) }
    : { attempts: number, due_at: at(now + delay) }
}

/** The columns of the receiver. */
function ofReceiver(outcome: AttemptOutcome) {
  if (outcome.is === 'sent') return { state: 'works', last_error: null }
  if (outcome.is === 'failed') return { state: 'fails', last_error: outcome.error.slice(0, LONGEST_ERROR) }
  if (outcome.is === 'again' && outcome.chat_id !== undefined) return { chat_id: outcome.chat_id }
  return {}
}
