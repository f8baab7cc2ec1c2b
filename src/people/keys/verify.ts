/**
 * Reads a key with everything the gate decides on: state, grant, organization, its owner's membership. Nothing is
 * cached; keys that arrive while a read is under way share the next one, so each call sees what was true after it came.
 */
import type pg from 'pg'
import { JOIN_ORGANIZATION } from './acts-in.ts'
import { hashSecret, hasSecretForm } from './secret.ts'

/** A key as stored. `accepted` is false for revoked, disabled and expired ones. */
export type KeyRecord = {
  key_id: string
  user_id: string
  accepted: boolean
  issued_at: string
  /** Null while the permissions were never saved. `org_id` in it is null where the grant names no organization. */
  grant: { org_id: number | null; read: string[]; write: string[]; delete: string[]; campaigns: string[] | null } | null
  /** The organization the key acts in: the grant's, else its owner's earliest membership; null when there is none. */
  org_id: number | null
  organization_id: string | null
  organization_deleted: boolean
  /** The owner's role there, null when they are no member. */
  role: 'owner' | 'admin' | 'member' | null
  /** When the read started (performance clock, ms). */
  read_at: number
}

const READ_KEYS = `
  select k.hash, k.id as key_id, k.user_id, k.created_at as issued_at,
    k.enabled and k.revoked_at is null and (k.expires_at is null or k.expires_at > $2) as accepted,
    g.key_id is not null as is_granted, g.org_id as grant_org_id, g.read, g.write, g.delete, g.campaigns,
    o.org_id, o.id as organization_id, o.deleted_at is not null as organization_deleted, m.role
  from api_keys k
  left join api_key_grants g on g.key_id = k.id${JOIN_ORGANIZATION}
  left join members m on m.org_id = o.org_id and m.user_id = k.user_id
  where k.hash = any($1) or k.id = any($3)`

type Row = Omit<KeyRecord, 'grant' | 'read_at'> & {
  hash: Buffer
  is_granted: boolean
  grant_org_id: number | null
  read: string[]
  write: string[]
  delete: string[]
  campaigns: string[] | null
}

function toRecord(row: Row, read_at: number): KeyRecord {
  const { hash: _, is_granted, grant_org_id, read, write, delete: final, campaigns, ...record } = row
  const grant = is_granted ? { org_id: grant_org_id, read, write, delete: final, campaigns } : null
  return { ...record, grant, read_at }
}

/** Reads keys by id anew, on any connection: for work that waited over a second before its transaction. */
export async function rereadKeys(
  client: Pick<pg.ClientBase, 'query'>,
  key_ids: readonly string[],
): Promise<Map<string, KeyRecord>> {
  const read_at = performance.now()
  const { rows } = await client.query<Row>(READ_KEYS, [[], new Date().toISOString(), key_ids])
  return new Map(rows.map(row => [row.key_id, toRecord(row, read_at)]))
}

type Waiting = {
  hash: Buffer
  resolve: (record: KeyRecord | undefined) => void
  reject: (error: unknown) => void
}

/**
 * Left to itself the planner plans every read anew, which takes five times as long as the read; and a plan made once, while the tables
 * are small, must not be one of scans.
 */
const SESSION =
  'set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off'

// Two reads at a time: one under way while the next gathers keeps a single busy connection from pacing every call.
const READS_AT_ONCE = 2

/** Verifies secrets against the `keys` pool; `verify` answers undefined for an unknown one and throws when it cannot be read. */
export function openKeyReader(pool: pg.Pool): { verify(secret: string): Promise<KeyRecord | undefined> } {
  pool.on('connect', client => void client.query(SESSION).catch(() => undefined))
  let waiting: Waiting[] = []
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
        // On the next turn of the event loop, so that calls of one turn share a read.
        if (waiting.length === 1) setImmediate(readNext)
      })
    },
  }
}

async function readBatch(pool: pg.Pool, batch: Waiting[]): Promise<void> {
  const read_at = performance.now()
  try {
    const hashes = new Map(batch.map(({ hash }) => [hash.toString('latin1'), hash]))
    const { rows } = await pool.query<Row>(READ_KEYS, [[...hashes.values()], new Date().toISOString(), []])
    const found = new Map(rows.map(row => [row.hash.toString('latin1'), toRecord(row, read_at)]))
    for (const { hash, resolve } of batch) resolve(found.get(hash.toString('latin1')))
  } catch (error) {
    for (const { reject } of batch) reject(error)
  }
}
