/**
 * The recipients of broadcasts, one row each. Owns `broadcast_sends`. A row is committed as `sending` before its message leaves, and only the process
 * that sent it records the outcome. So a crash leaves at most one group undecided, and nobody gets a message twice. The broadcast's counts change in
 * the same transaction as its rows.
 */
import { type Kysely, sql } from 'kysely'
import type pg from 'pg'
import type { Tables } from '../../ground/db/tables.ts'
import { inTransaction } from '../../ground/db/transaction.ts'
import type { Audience } from '../../contract/telegram-audience.ts'
import type { SendState } from './api.ts'
import { isWritable } from '../subscribers/audience.ts'
import { addToCounts, type BroadcastKey } from './counts.ts'
import type { SenderLease } from './senders.ts'
import type { SendTerms } from './terms.ts'

/** A claimed recipient. `isAgain`: the answer to a first attempt was lost. */
export type Recipient = {
  readonly telegram_user_id: string
  readonly subscriber_id: string
  readonly click_id: string | null
  readonly name: string | null
  readonly isAgain: boolean
}

type Queued = Omit<Recipient, 'isAgain' | 'name'> & { readonly reason: string | null }

/** The reason of a row whose message is sent a second time. */
export const SENT_AGAIN = 'its answer was lost: sent once more'

// Only while the process holds the bot's lease and the broadcast is sending.
const NEXT = `
  select d.telegram_user_id, d.subscriber_id, d.click_id, d.reason
  from broadcast_sends d
  where d.org_id = $1 and d.broadcast_id = $2 and d.state = 'queued'
    and exists (select 1 from bot_senders b where b.org_id = $1 and b.bot_id = $3 and b.token = $4 and b.lease_until > now())
    and exists (select 1 from broadcasts b where b.org_id = $1 and b.id = $2 and b.state = 'sending')
  order by d.subscriber_id
  limit $5
  for update of d skip locked`

/**
 * For a `from`: these subscribers as `s`, each by the whole key, because the planner has no statistics of a table that was just filled and would read all
 * people of the bot.
 */
export const eachSubscriber = (org_id: number, bot_id: string, ids: readonly string[]) => sql`
  unnest(${ids}::text[]) as asked (telegram_user_id)
  cross join lateral (
    select * from subscribers
    where org_id = ${org_id} and bot_id = ${bot_id} and telegram_user_id = asked.telegram_user_id limit 1
  ) s`

const writablePeople = (
  { org_id, bot_id }: SenderLease,
  audience: Audience,
  ids: readonly string[],
) => sql<WritablePerson>`
  select s.telegram_user_id, s.name from ${eachSubscriber(org_id, bot_id, ids)} where ${isWritable(audience)}`
type WritablePerson = { readonly telegram_user_id: string; readonly name: string | null }

const TAKE = `
  update broadcast_sends set state = 'sending', lease_token = $3, at = now()
  where org_id = $1 and broadcast_id = $2 and telegram_user_id = any($4::text[])`
const SKIP = `
  update broadcast_sends set state = 'skipped', reason = $3, at = now()
  where org_id = $1 and broadcast_id = $2 and telegram_user_id = any($4::text[])`

/**
 * Claims the next recipients, committed as `sending`. Recipients who may no longer get messages are skipped. `taken` counts both.
 */
export async function claimGroup(
  { db, pool }: { db: Kysely<Tables>; pool: pg.Pool },
  sender: SenderLease,
  { id, audience }: { id: string; audience: Audience },
  most: number,
): Promise<{ recipients: Recipient[]; taken: number }> {
  const { org_id, bot_id, token } = sender
  return await inTransaction(pool, async client => {
    const { rows } = await client.query<Queued>(NEXT, [org_id, id, bot_id, token, most])
    if (rows.length === 0) return { recipients: [], taken: 0 }
    const ids = rows.map(({ telegram_user_id }) => telegram_user_id)
    const { sql: text, parameters } = writablePeople(sender, audience, ids).compile(db)
    const people = await client.query<WritablePerson>(text, [...parameters])
    const names = new Map(people.rows.map(({ telegram_user_id, name }) => [telegram_user_id, name]))
    const over = ids.filter(one => !names.has(one))
    if (names.size > 0) await client.query(TAKE, [org_id, id, token, [...names.keys()]])
    if (over.length > 0) {
      await client.query(SKIP, [org_id, id, 'unsubscribed or no longer reachable', over])
      await addToCounts(client, { org_id, id }, { skipped: over.length })
    }
    const recipients = rows
      .filter(({ telegram_user_id }) => names.has(telegram_user_id))
      .map(({ reason, ...row }) => ({
        ...row,
        name: names.get(row.telegram_user_id) ?? null,
        isAgain: reason === SENT_AGAIN,
      }))
    return { recipients, taken: rows.length }
  })
}

/** The outcome of one message. */
export type SendOutcome = {
  readonly telegram_user_id: string
  readonly state: Exclude<SendState, 'sending'>
  readonly reason: string | null
  readonly message_id: number | null
}

const RECORD = `
  update broadcast_sends t
  set state = outcome.state, reason = outcome.reason, message_id = outcome.message_id, at = now()
  from unnest($4::text[], $5::text[], $6::text[], $7::bigint[]) as outcome (telegram_user_id, state, reason, message_id)
  where t.org_id = $1 and t.broadcast_id = $2 and t.telegram_user_id = any($4::text[])
    and t.telegram_user_id = outcome.telegram_user_id and t.lease_token = $3 and t.state = 'sending'
  returning t.state`

/** Records the outcomes of a group, except of rows that another process has decided by now. */
export async function recordOutcomes(
  pool: pg.Pool,
  { org_id, token }: SenderLease,
  id: string,
  outcomes: readonly SendOutcome[],
) {
  await inTransaction(pool, async client => {
    const { rows } = await client.query<{ state: SendState }>(RECORD, [
      org_id,
      id,
      token,
      outcomes.map(one => one.telegram_user_id),
      outcomes.map(one => one.state),
      outcomes.map(one => one.reason),
      outcomes.map(one => one.message_id),
    ])
    await addToCounts(client, { org_id, id }, tally(rows))
  })
}

function tally(rows: readonly { readonly state: SendState }[]): Partial<Record<SendState, number>> {
  const counts: Partial<Record<SendState, number>> = {}
  for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

const LEFT_BEHIND = `
  update broadcast_sends
  set state = case when $5::boolean and reason is null then 'queued' else 'unknown' end,
    reason = case when $5::boolean and reason is null then '${SENT_AGAIN}' else 'its process ended before the answer came' end,
    at = now()
  where org_id = $1 and broadcast_id = $2 and state = 'sending' and lease_token < $3
    and at < now() - $4::int * interval '1 millisecond'
  returning state`

/** Decides rows that a dead process left as `sending`, once its messages can no longer arrive. */
export async function decideAbandoned(
  pool: pg.Pool,
  { org_id, token }: SenderLease,
  { id, on_unknown }: { id: string; on_unknown: string },
  { lease_ms, grace_ms }: SendTerms,
): Promise<void> {
  await inTransaction(pool, async client => {
    const parameters = [org_id, id, token, lease_ms + grace_ms, on_unknown === 'resend']
    const { rows } = await client.query<{ state: SendState }>(LEFT_BEHIND, parameters)
    await addToCounts(client, { org_id, id }, tally(rows))
  })
}

/** The outcome of a lost answer: with `resend` the message is sent once more, else it is unknown. */
export function outcomeOfLostAnswer(
  on_unknown: string,
  { telegram_user_id, isAgain }: Recipient,
  words: string,
): SendOutcome {
  const isTried = on_unknown === 'resend' && !isAgain
  return {
    telegram_user_id,
    state: isTried ? 'queued' : 'unknown',
    reason: isTried ? SENT_AGAIN : words,
    message_id: null,
  }
}

const REST = `
  select telegram_user_id from broadcast_sends
  where org_id = $1 and broadcast_id = $2 and state = 'queued'
  order by subscriber_id
  limit $3
  for update skip locked`

/** Skips a portion of the queued recipients of a stopped broadcast; returns how many. */
export async function skipQueued(pool: pg.Pool, { org_id, id }: BroadcastKey, portion: number): Promise<number> {
  return await inTransaction(pool, async client => {
    const { rows } = await client.query<{ telegram_user_id: string }>(REST, [org_id, id, portion])
    if (rows.length === 0) return 0
    await client.query(SKIP, [org_id, id, 'stopped', rows.map(({ telegram_user_id }) => telegram_user_id)])
    await addToCounts(client, { org_id, id }, { skipped: rows.length })
    return rows.length
  })
}

const REQUEUE = `
  update broadcast_sends set state = 'queued', reason = null, lease_token = null, at = now()
  where org_id = $1 and broadcast_id = $2 and state = 'unknown'`

/** Queues the unknown recipients again, in the caller's transaction. */
export async function requeueUnknown(client: pg.ClientBase, { org_id, id }: BroadcastKey): Promise<void> {
  const { rowCount } = await client.query(REQUEUE, [org_id, id])
  await addToCounts(client, { org_id, id }, { unknown: -(rowCount ?? 0) })
}
