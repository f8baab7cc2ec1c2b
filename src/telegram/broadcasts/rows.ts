/** A broadcast's row, and the broadcast as the API shows it. */
import { type Kysely, sql } from 'kysely'
import { refuse } from '../../contract/refusals.ts'
import type { HoursOfDay } from '../../contract/telegram-audience.ts'
import { broadcastFault } from '../../contract/telegram-message.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type * as api from './api.ts'

const COLUMNS = [
  'id',
  'bot_id',
  'name',
  'state',
  'pause_reason',
  'message',
  'audience',
  'starts_at',
  'send_window',
  'per_second',
  'paid',
  'on_unknown',
  'is_prepared',
  'recipients',
  'sent',
  'blocked',
  'gone',
  'failed',
  'unknown',
  'skipped',
  'afterwards',
  'afterwards_at',
  'created_at',
  'updated_at',
  'started_at',
  'ended_at',
] as const satisfies (keyof Tables['broadcasts'])[]

type SharedColumns =
  | 'id'
  | 'bot_id'
  | 'name'
  | 'pause_reason'
  | 'message'
  | 'audience'
  | 'starts_at'
  | 'per_second'
  | 'paid'
type TimeColumns = 'created_at' | 'updated_at' | 'started_at' | 'ended_at'

export type StoredBroadcast = Pick<api.Broadcast, SharedColumns | TimeColumns | 'state' | 'on_unknown' | 'recipients'> &
  Omit<api.Broadcast['counts'], 'queued' | 'recipients'> & {
    readonly send_window: HoursOfDay | null
    readonly is_prepared: boolean
    readonly afterwards: Omit<NonNullable<api.Broadcast['afterwards']>, 'at'> | null
    readonly afterwards_at: string | null
    readonly send_per_second: number
    readonly started_by: string | null
  }

/** Broadcasts of the organization, with their bot's speed. */
export const storedBroadcasts = (db: Kysely<Tables>, org_id: number) =>
  db
    .selectFrom('broadcasts as b')
    .leftJoin('bots', join => join.onRef('bots.org_id', '=', 'b.org_id').onRef('bots.id', '=', 'b.bot_id'))
    .select(COLUMNS.map(column => `b.${column}` as const))
    .leftJoin('users', join => join.on(sql<boolean>`users.id = b.started_by::uuid`))
    .select(['bots.send_per_second', 'users.name as started_by'])
    .where('b.org_id', '=', org_id)
    .$castTo<StoredBroadcast>()

/** One broadcast. Refuses `object_not_found`. */
export async function storedBroadcast(db: Kysely<Tables>, org_id: number, id: string): Promise<StoredBroadcast> {
  return (await storedBroadcasts(db, org_id).where('b.id', '=', id).executeTakeFirst()) ?? refuse('object_not_found')
}

/** The messages per second it aims for. */
export function paceOf({
  per_second,
  paid,
  send_per_second,
}: Pick<StoredBroadcast, 'per_second' | 'paid' | 'send_per_second'>) {
  return per_second ?? (paid ? MOST_PAID : send_per_second)
}
const MOST_PAID = 1000

export function broadcastReply(row: StoredBroadcast): api.Broadcast {
  const { sent, blocked, gone, failed, unknown, skipped, recipients, afterwards, afterwards_at, send_window } = row
  const { id, bot_id, name, state, pause_reason, message, audience, starts_at, per_second, paid, on_unknown } = row
  const { started_by, created_at, updated_at, started_at, ended_at } = row
  const queued = recipients - sent - blocked - gone - failed - unknown - skipped
  return {
    id,
    bot_id,
    name,
    state,
    pause_reason,
    message,
    message_fault: broadcastFault(message) ?? null,
    audience,
    starts_at,
    window: send_window,
    per_second,
    paid,
    on_unknown,
    recipients,
    counts: { recipients, queued, sent, blocked, gone, failed, unknown, skipped },
    pace: paceOf(row),
    started_by,
    afterwards: afterwards === null || afterwards_at === null ? null : { ...afterwards, at: afterwards_at },
    created_at,
    updated_at,
    started_at,
    ended_at,
  }
}
