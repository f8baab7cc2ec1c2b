/** A receiver's row, and the receiver as the API shows it. */
import type { Kysely } from 'kysely'
import type { AlertKind } from '../../contract/alerts.ts'
import type { Role } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import type { HoursOfDay } from '../../contract/telegram-audience.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { idOf } from '../../ground/room.ts'
import type * as api from './api.ts'

const RECEIVER_COLUMNS = [
  'org_id',
  'id',
  'type',
  'name',
  'email',
  'bot_id',
  'chat_id',
  'url',
  'secret',
  'former_secret',
  'former_secret_until',
  'about',
  'quiet_hours',
  'digest',
  'state',
  'last_error',
  'created_at',
  'updated_at',
] as const satisfies (keyof Tables['receivers'])[]

export type StoredReceiver = {
  readonly org_id: number
  readonly id: string
  readonly name: string
  /** Encrypted, as `former_secret`, which also signs until `former_secret_until`. */
  readonly secret: Buffer | null
  readonly former_secret: Buffer | null
  readonly former_secret_until: string | null
  readonly about: AlertKind[] | null
  readonly quiet_hours: HoursOfDay | null
  readonly digest: api.Receiver['digest']
  readonly state: api.Receiver['state']
  readonly last_error: string | null
  readonly created_at: string
  readonly updated_at: string
} & (
  | { readonly type: 'mail'; readonly email: string }
  | { readonly type: 'telegram'; readonly bot_id: string; readonly chat_id: string }
  | { readonly type: 'webhook'; readonly url: string }
)

/** The rows of the organization's receivers. */
export const receiverRows = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('receivers').select(RECEIVER_COLUMNS).where('org_id', '=', org_id).$castTo<StoredReceiver>()

/** One row by its id in a path. Refuses `object_not_found`. */
export async function storedReceiver(db: Kysely<Tables>, org_id: number, id: string): Promise<StoredReceiver> {
  const row = await receiverRows(db, org_id).where('id', '=', idOf(id)).executeTakeFirst()
  return row ?? refuse('object_not_found')
}

/** The receiver as the API shows it to a role: members see the host of a webhook's address only. */
export function shownReceiver(row: StoredReceiver, role: Role): api.Receiver {
  const { id, name, about, quiet_hours, digest, state, last_error, created_at, updated_at } = row
  const shared = { id, name, about, quiet_hours, digest, state, last_error, created_at, updated_at }
  if (row.type === 'mail') return { ...shared, type: row.type, email: row.email }
  if (row.type === 'telegram') return { ...shared, type: row.type, bot_id: row.bot_id, chat_id: row.chat_id }
  return { ...shared, type: row.type, url: role === 'member' ? new URL(row.url).host : row.url }
}
