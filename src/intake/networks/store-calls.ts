/**
 * Stores postbacks that are run later. They gather while a batch is written, so that a flood takes one connection and few
 * commits. Limits how many of an organization wait.
 */
import { sql } from 'kysely'
import { newId } from '../../contract/ids.ts'
import type { Ground } from '../../ground/room.ts'
import type { Fields } from './read-call.ts'

/** A postback of a known network. */
export type NetworkCall = {
  readonly org_id: number
  readonly network_id: string
  readonly fields: Fields
  readonly ip: string
  /** Unix ms. */
  readonly received_at: number
}

type GatheredCall = { call: NetworkCall; resolve: (isStored: boolean) => void; reject: (error: unknown) => void }

const BATCH = 200
/** Hours of a busy network. Beyond it the sender floods, and is answered 503. */
const MOST_WAITING = 100_000
/** How long a count is used, plus what this process added to it. */
const COUNTED_MS = 10_000

/** Returns a function that stores a postback: true once stored, false if too many wait. It rejects with the database's error. */
export function openCallStore(db: Ground['db'], most = MOST_WAITING): (call: NetworkCall) => Promise<boolean> {
  let gathered: GatheredCall[] = []
  let isWriting = false
  const counts = new Map<number, { count: number; until: number }>()

  /** Reserves room for the organization's postbacks; returns for how many there is room. */
  const reserve = async (org_id: number, wanted: number): Promise<number> => {
    let known = counts.get(org_id)
    if (known === undefined || known.until < performance.now()) {
      known = { count: await countWaiting(db, org_id, most), until: performance.now() + COUNTED_MS }
      counts.set(org_id, known)
    }
    const free = Math.max(0, Math.min(wanted, most - known.count))
    known.count += free
    return free
  }
  const store = async (batch: readonly GatheredCall[]) => {
    // One organization at a time, because on a cluster another one's node may be away.
    for (const [org_id, of] of Map.groupBy(batch, ({ call }) => call.org_id)) {
      await storeOwn(org_id, of).catch((error: unknown) => {
        for (const { reject } of of) reject(error)
      })
    }
  }
  const storeOwn = async (org_id: number, of: readonly GatheredCall[]) => {
    const stored = of.slice(0, await reserve(org_id, of.length))
    if (stored.length > 0)
      await db
        .insertInto('network_calls')
        .values(stored.map(({ call }) => rowOf(call)))
        .execute()
    const isStored = new Set(stored)
    for (const one of of) one.resolve(isStored.has(one))
  }
  const write = async () => {
    isWriting = true
    while (gathered.length > 0) {
      const batch = gathered.slice(0, BATCH)
      gathered = gathered.slice(BATCH)
      await store(batch)
    }
    // Set in the same turn as the last check, so that no call added meanwhile is left behind.
    isWriting = false
  }
  return call =>
    new Promise((resolve, reject) => {
      gathered.push({ call, resolve, reject })
      if (!isWriting) void write()
    })
}

async function countWaiting(db: Ground['db'], org_id: number, most: number): Promise<number> {
  const some = db.selectFrom('network_calls').select('id').where('org_id', '=', org_id).limit(most)
  const { count } = await db
    .selectFrom(some.as('some'))
    .select(eb => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

function rowOf({ org_id, network_id, fields, ip, received_at }: NetworkCall) {
  const at = new Date(received_at).toISOString()
  return {
    org_id,
    id: newId(received_at),
    network_id,
    fields: JSON.stringify(fields),
    ip,
    received_at: at,
    // The periodic job uses the database's clock.
    run_at: sql<string>`now()`,
    attempts: 0,
  }
}
