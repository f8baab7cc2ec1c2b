/** A batch as one transaction (it lives four seconds at most), in two flights: begin, lock, read; write, commit. */
import type pg from 'pg'
import { Refusal } from '../../contract/refusals.ts'
import { ask, flightOf, type Question } from '../../ground/db/flight.ts'
import { Changes } from './changes.ts'
import { Decisions, type IsUnsettled, type Outcome } from './decide.ts'
import type { ChangedObject } from '../../traffic/campaigns/live.ts'
import type { Item, UsedKey } from './items.ts'
import { type Asked, readKnown, readStarts } from './read-known.ts'
import { readBatchRates } from './batch-rates.ts'

/** What a key may do at this moment: its campaigns, or why it may nothing. */
export type KeyStanding = { readonly campaigns: readonly string[] | null } | Refusal

/** Reads keys anew on the given connection, for work of this organization that waited over a second. */
export type StillAllowed = (
  client: pg.PoolClient,
  org_id: number,
  keys: readonly UsedKey[],
) => Promise<ReadonlyMap<UsedKey, KeyStanding>>

export type Terms = {
  stillAllowed: StillAllowed | undefined
  unsettled: () => IsUnsettled
  /** Which source of rates is believed first. */
  rateOrder: readonly string[]
}

/**
 * What becomes of each item, if the writes are committed; nothing of an organization whose lock someone else holds. `filled` are the caps
 * whose limit is then reached.
 */
export type Decided = {
  outcomes: Map<Item, Outcome>
  writes: Question[]
  hasDeliveries: boolean
  filled: ChangedObject[]
}

const KEY_IS_STALE_MS = 1000
/** So much for the reading, that with the writing it stays below the four seconds. */
const READING_MS = 2500

/** The transaction took too long to be finished in time; nothing of it stays. */
export class TooSlow extends Error {}

/** Begins the transaction, reads and decides. @throws what the database throws; the connection is then not to be used again. */
export async function decideBatch(
  client: pg.PoolClient,
  asked: Asked,
  { stillAllowed, unsettled, rateOrder }: Terms,
): Promise<Decided> {
  const begun = performance.now()
  // Asked before the clicks are read: one that came out of the journal in between must not be taken for unknown.
  const isUnsettled = unsettled()
  const stale = stillAllowed === undefined ? new Map<number, UsedKey[]>() : staleKeys(asked, begun)
  const reread = () =>
    stillAllowed === undefined || stale.size === 0 ? undefined : rereadKeys(client, stale, stillAllowed)
  const { known, at, also: standings } = await readKnown(client, asked, reread)
  if (at === undefined) return { outcomes: new Map(), writes: [], hasDeliveries: false, filled: [] }
  await readStarts(client, asked, known)
  await readBatchRates(client, asked, known, { at, order: rateOrder })
  if (performance.now() - begun > READING_MS) throw new TooSlow('reading took too long')
  const changes = new Changes()
  const outcomes = new Map<Item, Outcome>()
  for (const [org_id, of] of known) {
    const decisions = new Decisions(org_id, of, changes, at, isUnsettled)
    for (const item of asked.get(org_id) ?? []) {
      const allowed = asAllowed(item, standings)
      outcomes.set(item, allowed instanceof Refusal ? allowed : decisions.decide(allowed))
    }
  }
  const writes = changes.statements([...asked.keys()], at)
  return { outcomes, writes, hasDeliveries: changes.deliveries.length > 0, filled: changes.caps.filled() }
}

/** Writes and commits. @throws what the database throws: then nothing was stored, or, for a lost connection, it is unknown. */
export async function commitBatch(client: pg.PoolClient, writes: readonly Question[]): Promise<void> {
  // With nothing to write there is nothing to make durable either.
  const end = ask(writes.length === 0 ? 'rollback' : 'commit')
  // Behind a statement that fails the commit is skipped, so nothing can be half written.
  await flightOf(client, [...writes, end])
}

function staleKeys(asked: Asked, now: number): Map<number, UsedKey[]> {
  const stale = new Map<number, UsedKey[]>()
  for (const [org_id, items] of asked) {
    const used = items.flatMap(item => (item.kind === 'conversion' && item.key !== undefined ? [item.key] : []))
    const old = used.filter(key => now - key.read_at > KEY_IS_STALE_MS)
    if (old.length > 0) stale.set(org_id, old)
  }
  return stale
}

/** The standing of each key that was asked for; one that is gone may nothing. */
async function rereadKeys(client: pg.PoolClient, stale: Map<number, UsedKey[]>, stillAllowed: StillAllowed) {
  const standings = new Map<UsedKey, KeyStanding>()
  const reading = [...stale].map(async ([org_id, keys]) => {
    const found = await stillAllowed(client, org_id, keys)
    for (const key of keys) standings.set(key, found.get(key) ?? new Refusal('key_not_accepted'))
  })
  await Promise.all(reading)
  return standings
}

/** The item with the campaigns its key has now, or the refusal of a key that may no longer do this. */
function asAllowed(item: Item, standings: ReadonlyMap<UsedKey, KeyStanding> | undefined): Item | Refusal {
  if (item.kind !== 'conversion' || item.key === undefined) return item
  const standing = standings?.get(item.key)
  if (standing === undefined) return item
  return standing instanceof Refusal ? standing : { ...item, campaigns: standing.campaigns }
}
