/** Puts messages into the queue of receivers. Owns `receiver_messages`; besides this file turns.ts, outcomes.ts and ../retention.ts change it. */
import type { Kysely } from 'kysely'
import type { AlertBody, AlertKind } from '../../contract/alerts.ts'
import { newId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'

/**
 * The receivers that are told about a kind; `only` names them instead, whatever they are told about. If all those named were deleted, it is told to the
 * others.
 */
export async function receiversOf(
  trx: Kysely<Tables>,
  org_id: number,
  { kind, only }: { readonly kind: AlertKind; readonly only?: readonly string[] | undefined },
): Promise<string[]> {
  if (only?.length === 0) return []
  const rows = await trx.selectFrom('receivers').select(['id', 'about']).where('org_id', '=', org_id).execute()
  const named = rows.filter(({ id }) => only?.includes(id))
  const told = named.length > 0 ? named : rows.filter(({ about }) => about === null || about.includes(kind))
  return told.map(({ id }) => id)
}

/** A message of an episode. `number` is its place in the episode; each receiver gets each number once. */
type EpisodeMessage = {
  readonly episode_id: string
  readonly number: number
  readonly body: AlertBody
  /** By the clock of this process. */
  readonly at: string
}

/** Queues a message for each of the receivers, in the caller's transaction. It is sent after the commit. */
export async function queueMessage(
  trx: Kysely<Tables>,
  org_id: number,
  receiver_ids: readonly string[],
  { episode_id, number, body, at }: EpisodeMessage,
): Promise<void> {
  await trx
    .insertInto('receiver_messages')
    .values(
      receiver_ids.map(receiver_id => ({
        org_id,
        id: newId(),
        receiver_id,
        episode_id,
        number,
        body: JSON.stringify(body),
        state: 'waiting',
        created_at: at,
        due_at: at,
      })),
    )
    .execute()
}

/** Makes the waiting messages of a receiver due, so that they are judged by its new settings. */
export async function lookAgain(trx: Kysely<Tables>, org_id: number, receiver_id: string): Promise<void> {
  await trx
    .updateTable('receiver_messages')
    .set({ due_at: new Date().toISOString() })
    .where('org_id', '=', org_id)
    .where('receiver_id', '=', receiver_id)
    .where('state', '=', 'waiting')
    .execute()
}
