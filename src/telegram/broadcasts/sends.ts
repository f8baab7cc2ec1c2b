/**
 * The recipients of broadcasts, one row each. Owns `broadcast_sends`. A row is `sending` and committed before its message leaves, and what came of it is
 * written only by the process that has sent it: so whatever dies, at most the group that was on its way is undecided, and nobody is written to twice. With a
 * row that comes to an end its broadcast counts it, in the same transaction.
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

/** Somebody whose message is to leave now. `isAgain`: its answer was lost once already. */
export type Recipient = {
  readonly telegram_user_id: string
  readonly subscriber_id: string
  readonly click_id: string | null
  readonly name: string | null
  readonly isAgain: boolean
}

type Queued = Omit<Recipient, 'isAgain' | 'name'> & { readonly reason: string | null }

/** What is said of a row whose message is sent once more. */
export const SENT_AGAIN = 'its answer was lost: sent once more'

// Only where the process has the bot still, and the broadcast is going on.
const NEXT = `
  select d.telegram_user_id, d.subscriber_id, d.click_id, d.reason
  from broadcast_sends d
  where d.org_id = $1 and d.broadcast_id = $2 and d.state = 'queued'
    and exists (select 1 from bot_senders b where b.org_id = $1 and b.bot_id = $3 and b.token = $4 and b.lease_until > now())
    and exists (select 1 from broadcasts b where b.org_id = $1 and b.id = $2 and b.state = 'sending')
  order by d.subscriber_id
  limit $5
  for update of d skip locked`

// By whole keys, here and below: of tables that have just been filled the planner knows nothing, and would look through all of them for a few.
const writable = ({ org_id, bot_id }: SenderLease, audience: Audience, ids: readonly string[]) => sql<Named>`
  select s.telegram_user_id, s.name
  from subscribers s
  where s.org_id = ${org_id} and s.bot_id = ${bot_id} and s.telegram_user_id = any(${ids}) and ${isWritable(audience)}`
type Named = { readonly telegram_user_id: string; readonly name: string | null }

const TAKE = `
  update broadcast_sends set state = 'sending', lease_token = $3, at = now()
  where org_id = $1 and broadcast_id = $2 and telegram_user_id = any($4::text[])`
const PASS_OVER = `
  update broadcast_sends set state = 'skipped', reason = $3, at = now()
  where org_id = $1 and broadcast_id = $2 and telegram_user_id = any($4::text[])`

/**
 * Takes the next few: committed as `sending`. Whoever may no longer be written to is passed over. `taken`: how many rows, with those that were.
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
    const { sql: text, parameters } = writable(sender, audience, ids).compile(db)
    const found = await client.query<Named>(text, [...parameters])
    const names = new Map(found.rows.map(({ telegram_user_id, name }) => [telegram_user_id, name]))
    const over = ids.filter(one => !names.has(one))
    if (names.size > 0) await client.query(TAKE, [org_id, id, token, [...names.keys()]])
    if (over.length > 0) {
      await client.query(PASS_OVER, [org_id, id, 'opted out or not to be reached any more', over])
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

/** What came of one message. */
export type SendOutcome = {
  readonly telegram_user_id: string
  readonly state: Exclude<SendState, 'sending'>
  readonly reason: string | null
  readonly message_id: number | null
}

const TELL = `
  update broadcast_sends t
  set state = told.state, reason = told.reason, message_id = told.message_id, at = now()
  from unnest($4::text[], $5::text[], $6::text[], $7::bigint[]) as told (telegram_user_id, state, reason, message_id)
  where t.org_id = $1 and t.broadcast_id = $2 and t.telegram_user_id = any($4::text[])
    and t.telegram_user_id = told.telegram_user_id and t.lease_token = $3 and t.state = 'sending'
  returning t.state`

/** Writes down what came of a group; of rows that another process has decided meanwhile nothing. */
export async function recordOutcomes(
  pool: pg.Pool,
  { org_id, token }: SenderLease,
  id: string,
  told: readonly SendOutcome[],
) {
  await inTransaction(pool, async client => {
    const { rows } = await client.query<{ state: SendState }>(TELL, [
      org_id,
      id,
      token,
      told.map(one => one.telegram_user_id),
      told.map(one => one.state),
      told.map(one => one.reason),
      told.map(one => one.message_id),
    ])
    await addToCounts(client, { org_id, id }, tally(rows))
  })
}

function tally(rows: readonly { readonly state: SendState }[]): Partial<Record<SendState, number>> {
  const found: Partial<Record<SendState, number>> = {}
  for (const { state } of rows) found[state] = (found[state] ?? 0) + 1
  return found
}

const LEFT_BEHIND = `
  update broadcast_sends
  set state = case when $5::boolean and reason is null then 'queued' else 'unknown' end,
    reason = case when $5::boolean and reason is null then '${SENT_AGAIN}' else 'its process ended before the answer came' end,
    at = now()
  where org_id = $1 and broadcast_id = $2 and state = 'sending' and lease_token < $3
    and at < now() - $4::int * interval '1 millisecond'
  returning state`

/** Decides what a process has left on its way that ended or lost the bot, once nothing of it can arrive any more. */
export async function decideAbandoned(
  pool: pg.Pool,
  { org_id, token }: SenderLease,
  { id, on_unknown }: { id: string; on_unknown: string },
  { lease_ms, grace_ms }: SendTerms,
): Promise<void> {
  await inTransaction(pool, async client => {
    const asked = [org_id, id, token, lease_ms + grace_ms, on_unknown === 'resend']
    const { rows } = await client.query<{ state: SendState }>(LEFT_BEHIND, asked)
    await addToCounts(client, { org_id, id }, tally(rows))
  })
}

/** A lost answer: by the broadcast's own will the message is sent once more, and after that it is unknown. */
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

/** Marks the rest of a broadcast that was stopped as skipped, a portion of it; answers how many. */
export async function skipQueued(pool: pg.Pool, { org_id, id }: BroadcastKey, portion: number): Promise<number> {
  return await inTransaction(pool, async client => {
    const { rows } = await client.query<{ telegram_user_id: string }>(REST, [org_id, id, portion])
    if (rows.length === 0) return 0
    await client.query(PASS_OVER, [org_id, id, 'stopped', rows.map(({ telegram_user_id }) => telegram_user_id)])
    await addToCounts(client, { org_id, id }, { skipped: rows.length })
    return rows.length
  })
}

const REQUEUE = `
  update broadcast_sends set state = 'queued', reason = null, lease_token = null, at = now()
  where org_id = $1 and broadcast_id = $2 and state = 'unknown'`

/** Puts the unknown ones in the queue again, in the caller's transaction. */
export async function requeueUnknown(client: pg.ClientBase, { org_id, id }: BroadcastKey): Promise<void> {
  const { rowCount } = await client.query(REQUEUE, [org_id, id])
  await addToCounts(client, { org_id, id }, { unknown: -(rowCount ?? 0) })
}
