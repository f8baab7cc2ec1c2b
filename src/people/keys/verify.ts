/**
 * Reads a key with everything the gate decides by: state, grant, organization and its owner's membership. Nothing is cached. Calls that
 * arrive while a read is running share the next read, so each call sees a state that was true after it arrived.
 */
import type pg from 'pg'
import { JOIN_ORGANIZATION } from './key-organization.ts'
import { hashSecret, hasSecretForm } from './secret.ts'

/** A key as stored. `accepted` is false for revoked, disabled and expired keys. */
export type KeyRecord = {
  key_id: string
  user_id: string
  accepted: boolean
  /** A destructive tool call needs the confirmation of its own dry run. */
  ask_first: boolean
  issued_at: string
  /** Null while the permissions were never saved. Its `org_id` is null when the grant names no organization. */
  grant: { org_id: number | null; read: string[]; write: string[]; delete: string[]; campaigns: string[] | null } | null
  /** The organization the key acts in: the grant's, otherwise that of its owner's earliest membership. Null when there is none. */
  org_id: number | null
  organization_id: string | null
  organization_deleted: boolean
  /** The owner's role in that organization. Null when they are not a member. */
  role: 'owner' | 'admin' | 'member' | null
  /** The time when the read started (performance clock, ms). */
  read_at: number
}

const READ_KEYS = `
  select k.hash, k.id as key_id, k.user_id, k.created_at as issued_at, k.ask_first,
    k.enabled and k.revoked_at is null and (k.expires_at is null or k.expires_at > $2) as accepted,
    g.key_id is not null as is_granted, g.org_id as grant_org_id, g.read, g.write, g.delete, g.campaigns,
    o.org_id, o.id as organization_id, o.deleted_at is not null as organization_deleted, m.role
  from api_keys k
  left join api_key_grants g on g.key_id = k.id${JOIN_ORGANIZATION}
  left join members m on m.org_id = o.org_id and m.user_id = k.user_id
  where k.hash = any($1) or k.id = any($3)`

type KeyWithGrantRow = Omit<KeyRecord, 'grant' | 'read_at'> & {
  hash: Buffer
  is_granted: boolean
  grant_org_id: number | null
  read: string[]
  write: string[]
  delete: string[]
  campaigns: string[] | null
}

function toRecord(row: KeyWithGrantRow, read_at: number): KeyRecord {
  const { hash: _, is_granted, grant_org_id, read, write, delete: final, campaigns, ...record } = row
  const grant = is_granted ? { org_id: grant_org_id, read, write, delete: final, campaigns } : null
  return { ...record, grant, read_at }
}

/** Reads keys by id again, on any connection. Used by work that waited for more than a second before its transaction. */
export async function rereadKeys(
  client: Pick<pg.ClientBase, 'query'>,
  key_ids: readonly string[],
): Promise<Map<string, KeyRecord>> {
  const read_at = performance.now()
  const { rows } = await client.query<KeyWithGrantRow>(READ_KEYS, [[], new Date().toISOString(), key_ids])
  return new Map(rows.map(row => [row.key_id, toRecord(row, read_at)]))
}

type PendingRead = {
  hash: Buffer
  resolve: (record: KeyRecord | undefined) => void
  reject: (error: unknown) => void
}

/**
 * The settings of the pool's connections. By default PostgreSQL plans every read again, which takes five times as long as the read
 * itself, so a generic plan is forced. Scans are disabled, because a plan made while the tables are small would otherwise keep them.
 */
const CONNECTION_SETTINGS =
  'set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off'

// With two reads at a time, one slow connection does not delay every call.
const READS_AT_ONCE = 2

/** Opens the reader of keys. `verify` returns undefined for an unknown secret and throws when the database cannot be read. */
export function openKeyReader(pool: pg.Pool): { verify(secret: string): Promise<KeyRecord | undefined> } {
  pool.on('connect', client => void client.query(CONNECTION_SETTINGS).catch(() => undefined))
  let waiting: PendingRead[] = []
  let reading = 0

  const readNext = () => {
    if (reading >= READS_AT_ONCE || waiting.length === 0) return
    const batch = waiting
    waiting = []
    reading += 1
    void readBatch(pool, batch).finally(() => {
      reading -= 1
      readNext()
    })
  }

  return {
    verify(secret) {
      if (!hasSecretForm(secret)) return Promise.resolve(undefined)
      return new Promise((resolve, reject) => {
        waiting.push({ hash: hashSecret(secret), resolve, reject })
        // The read starts on the next turn of the event loop, so that calls of one turn share it.
        if (waiting.length === 1) setImmediate(readNext)
      })
    },
  }
}

async function readBatch(pool: pg.Pool, batch: PendingRead[]): Promise<void> {
  const read_at = performance.now()
  try {
    const hashes = new Map(batch.map(({ hash }) => [hash.toString('latin1'), hash]))
    const { rows } = await pool.query<KeyWithGrantRow>(READ_KEYS, [[...hashes.values()], new Date().toISOString(), []])
    const found = new Map(rows.map(row => [row.hash.toString('latin1'), toRecord(row, read_at)]))
    for (const { hash, resolve } of batch) resolve(found.get(hash.toString('latin1')))
  } catch (error) {
    for (const { reject } of batch) reject(error)
  }
}
