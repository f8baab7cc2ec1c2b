/** Runs a batch as one transaction of at most four seconds, in two round trips: begin, lock, read; then write, commit. */
import type pg from 'pg'
import { Refusal } from '../../contract/refusals.ts'
import { ask, flightOf, type FlightStatement } from '../../ground/db/flight.ts'
import { Changes } from './changes.ts'
import { Decisions, type IsUnsettled, type Outcome } from './decide.ts'
import type { ChangedObject } from '../../traffic/campaigns/live.ts'
import type { Item, UsedKey } from './items.ts'
import { type BatchItems, readStates, readStarts, readReported } from './read-state.ts'
import { readBatchRates } from './batch-rates.ts'

/** What a key may do now: its campaigns, or the refusal of a key that may do nothing. */
export type KeyStanding = { readonly campaigns: readonly string[] | null } | Refusal

/** Reads keys again on the given connection, for items of the organization that waited over a second. */
export type StillAllowed = (
  client: pg.PoolClient,
  org_id: number,
  keys: readonly UsedKey[],
) => Promise<ReadonlyMap<UsedKey, KeyStanding>>

export type Terms = {
  stillAllowed: StillAllowed | undefined
  unsettled: () => IsUnsettled
  /** The order in which sources of rates are preferred. */
  rateOrder: readonly string[]
}

/**
 * The outcome of each item once the writes are committed. Items of an organization whose lock another transaction holds have none. `filled`: the caps
 * whose limit is then reached.
 */
export type Decided = {
  outcomes: Map<Item, Outcome>
  writes: FlightStatement[]
  hasDeliveries: boolean
  filled: ChangedObject[]
  /** What the writes consist of. */
  changes: Changes
}

const KEY_IS_STALE_MS = 1000
/** The most time for reading, so that reading and writing together take less than four seconds. */
const READING_MS = 2500

/** Reading took too long to finish the transaction in time; nothing is stored. */
export class TooSlow extends Error {}

/** Begins the transaction, reads and decides. @throws the database's error; then the connection must be closed. */
export async function decideBatch(
  client: pg.PoolClient,
  batch: BatchItems,
  { stillAllowed, unsettled, rateOrder }: Terms,
): Promise<Decided> {
  const begun = performance.now()
  // Taken before the clicks are read: a click that leaves the journal in between must not count as unknown.
  const isUnsettled = unsettled()
  const stale = stillAllowed === undefined ? new Map<number, UsedKey[]>() : staleKeys(batch, begun)
  const reread = () =>
    stillAllowed === undefined || stale.size === 0 ? undefined : rereadKeys(client, stale, stillAllowed)
  const { states, at, also: keyStandings } = await readStates(client, batch, reread)
  const changes = new Changes()
  if (at === undefined) return { outcomes: new Map(), writes: [], hasDeliveries: false, filled: [], changes }
  await readStarts(client, batch, states)
  await readReported(client, batch, states)
  await readBatchRates(client, batch, states, { at, order: rateOrder })
  if (performance.now() - begun > READING_MS) throw new TooSlow('reading took too long')
  const outcomes = new Map<Item, Outcome>()
  for (const [org_id, of] of states) {
    const decisions = new Decisions(org_id, of, changes, at, isUnsettled)
    for (const item of batch.get(org_id) ?? []) {
      const allowed = asAllowed(item, keyStandings)
      outcomes.set(item, allowed instanceof Refusal ? allowed : decisions.decide(allowed))
    }
  }
  const writes = changes.statements([...batch.keys()], at)
  return { outcomes, writes, hasDeliveries: changes.deliveries.length > 0, filled: changes.caps.filled(), changes }
}

/** Writes and commits. @throws the database's error: then nothing was stored, or, after a lost connection, that is unknown. */
export async function commitBatch(client: pg.PoolClient, writes: readonly FlightStatement[]): Promise<void> {
  // Without writes, a rollback is cheaper than a commit.
  const end = ask(writes.length === 0 ? 'rollback' : 'commit')
  // A failed statement makes the server skip the commit, so nothing can be half written.
  await flightOf(client, [...writes, end])
}

function staleKeys(batch: BatchItems, now: number): Map<number, UsedKey[]> {
  const stale = new Map<number, UsedKey[]>()
  for (const [org_id, items] of batch) {
    const used = items.flatMap(item => (item.kind === 'conversion' && item.key !== undefined ? [item.key] : []))
    const old = used.filter(key => now - key.read_at > KEY_IS_STALE_MS)
    if (old.length > 0) stale.set(org_id, old)
  }
  return stale
}

/** The standing of each key; a key that no longer exists is refused. */
async function rereadKeys(client: pg.PoolClient, stale: Map<number, UsedKey[]>, stillAllowed: StillAllowed) {
  const standings = new Map<UsedKey, KeyStanding>()
  const reading = [...stale].map(async ([org_id, keys]) => {
    const standingOfKeys = await stillAllowed(client, org_id, keys)
    for (const key of keys) standings.set(key, standingOfKeys.get(key) ?? new Refusal('key_not_accepted'))
  })
  await Promise.all(reading)
  return standings
}

/** The item with the current campaigns of its key, or the refusal of a key that lost the right. */
function asAllowed(item: Item, standings: ReadonlyMap<UsedKey, KeyStanding> | undefined): Item | Refusal {
  if (item.kind !== 'conversion' || item.key === undefined) return item
  const standing = standings?.get(item.key)
  if (standing === undefined) return item
  return standing instanceof Refusal ? standing : { ...item, campaigns: standing.campaigns }
}
