/**
 * Chooses the next message of a receiver and claims it. What must stay true: a message is sent by the process that holds its lease, and an earlier
 * message of an episode is sent or given up before a later one. The receiver's row is locked meanwhile, so that two processes never make two digests
 * of the same messages. Due is decided by the clock of this process, leases by the database's.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { AlertBody, DigestBody, MessageBody } from '../../contract/alerts.ts'
import { MINUTE_MS } from '../../contract/days.ts'
import { newId } from '../../contract/ids.ts'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { turnOf } from './hours.ts'
import { receiverRows, type StoredReceiver } from './rows.ts'

/** Longer than the channel may take, with time to write the outcome. A mail server may take ten seconds for each of its answers. */
const LEASES_MS: Readonly<Record<StoredReceiver['type'], number>> = {
  mail: 3 * MINUTE_MS,
  telegram: MINUTE_MS,
  webhook: MINUTE_MS,
}
/** Messages looked at in one transaction. */
const MOST = 500

/** A claimed message. `attempts` were made before. */
export type ClaimedMessage = {
  readonly id: string
  readonly body: MessageBody
  readonly attempts: number
  readonly token: string
  readonly receiver: StoredReceiver
}

export type ReceiverId = { readonly org_id: number; readonly receiver_id: string }

type DueMessage = {
  readonly id: string
  readonly body: MessageBody
  readonly attempts: number
  readonly created_at: string
  /** An earlier message of its episode is not sent yet. */
  readonly is_behind: boolean
}

/** A lease as the columns of a row. */
async function newLease(db: Kysely<Tables>, { type }: StoredReceiver) {
  return { lease_token: newId(), lease_until: await databaseTimeIn(db, LEASES_MS[type]) }
}

/**
 * Claims the next message. `moved`: none, but some now wait for a later time or became a digest, so there may be more. Undefined: there is nothing to
 * do. Messages of a deleted receiver are deleted.
 */
export async function claimNext(db: Kysely<Tables>, of: ReceiverId): Promise<ClaimedMessage | 'moved' | undefined> {
  const { org_id, receiver_id } = of
  return await db.transaction().execute(async trx => {
    const receiver = await receiverRows(trx, org_id).where('id', '=', receiver_id).forUpdate().executeTakeFirst()
    if (receiver === undefined) {
      await trx
        .deleteFrom('receiver_messages')
        .where('org_id', '=', org_id)
        .where('receiver_id', '=', receiver_id)
        .execute()
      return undefined
    }
    const now = Date.now()
    const due = await dueMessages(trx, of, now)
    const turns = due.map(message => ({ message, turn: turnOf(receiver, message, now) }))
    const collected = turns.flatMap(({ message, turn }) => (turn === 'collect' ? [message] : []))
    const waits = turns.flatMap(({ message, turn }) => (typeof turn === 'object' ? [{ message, ...turn }] : []))
    for (const [wait_until, list] of Map.groupBy(waits, one => one.wait_until))
      await messagesOf(
        trx,
        org_id,
        list.map(({ message }) => message),
      )
        .set({ due_at: new Date(wait_until).toISOString() })
        .execute()
    if (collected.length > 0) await collect(trx, of, collected, new Date(now).toISOString())
    const next = turns.find(({ message, turn }) => turn === 'send' && !message.is_behind)?.message
    if (next === undefined) return waits.length + collected.length > 0 ? 'moved' : undefined
    const lease = await newLease(trx, receiver)
    await messagesOf(trx, org_id, [next]).set(lease).execute()
    return { id: next.id, body: next.body, attempts: next.attempts, token: lease.lease_token, receiver }
  })
}

/** The due messages that no process holds, in the order in which they are sent. */
async function dueMessages(trx: Transaction<Tables>, { org_id, receiver_id }: ReceiverId, now: number) {
  const { rows } = await sql<DueMessage>`
    select m.id, m.body, m.attempts, m.created_at, exists (
        select from receiver_messages e
        where e.org_id = ${org_id} and e.receiver_id = ${receiver_id} and e.episode_id = m.episode_id
          and e.number < m.number and e.state = 'waiting') as is_behind
    from receiver_messages m
    where m.org_id = ${org_id} and m.receiver_id = ${receiver_id} and m.state = 'waiting'
      and m.due_at <= ${new Date(now).toISOString()} and (m.lease_until is null or m.lease_until <= now())
    order by m.due_at, m.created_at, m.number, m.id
    limit ${sql.lit(MOST)}`.execute(trx)
  return rows
}

const messagesOf = (trx: Transaction<Tables>, org_id: number, messages: readonly { readonly id: string }[]) =>
  trx
    .updateTable('receiver_messages')
    .where('org_id', '=', org_id)
    .where(
      'id',
      'in',
      messages.map(({ id }) => id),
    )

/** Makes one message of many, which is sent in their place. */
async function collect(
  trx: Transaction<Tables>,
  { org_id, receiver_id }: ReceiverId,
  messages: readonly DueMessage[],
  at: string,
): Promise<void> {
  const items = messages.map(({ body }) => body as AlertBody)
  const body: DigestBody = {
    type: 'digest',
    phase: 'digest',
    episode: null,
    object: null,
    rule: null,
    text: items.length === 1 ? '1 alert' : `${items.length} alerts`,
    figures: {},
    causes: [],
    at,
    url: '/automation/receivers',
    items,
  }
  await messagesOf(trx, org_id, messages).set({ state: 'collected', ended_at: at }).execute()
  await trx.insertInto('receiver_messages').values(newMessage({ org_id, receiver_id }, body)).execute()
}

/** Puts a test into the queue, claimed by this process, and gives up an earlier one that waits. */
export async function replaceTest(
  db: Kysely<Tables>,
  receiver: StoredReceiver,
  body: AlertBody,
): Promise<ClaimedMessage> {
  const { org_id, id: receiver_id } = receiver
  return await db.transaction().execute(async trx => {
    await sql`
      update receiver_messages set state = 'failed', ended_at = ${body.at}
      where org_id = ${org_id} and receiver_id = ${receiver_id} and state = 'waiting' and body ->> 'type' = 'test'
        and (lease_until is null or lease_until <= now())`.execute(trx)
    const lease = await newLease(trx, receiver)
    const message = newMessage({ org_id, receiver_id }, body)
    await trx
      .insertInto('receiver_messages')
      .values({ ...message, ...lease })
      .execute()
    return { id: message.id, body, attempts: 0, token: lease.lease_token, receiver }
  })
}

/** A message that belongs to no episode and is due at once. */
const newMessage = ({ org_id, receiver_id }: ReceiverId, body: MessageBody) => ({
  org_id,
  id: newId(),
  receiver_id,
  episode_id: null,
  number: 0,
  body: JSON.stringify(body),
  state: 'waiting',
  created_at: body.at,
  due_at: body.at,
})
