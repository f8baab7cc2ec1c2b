// Domains of the demo: an active one, and one whose DNS is not set yet. Both are made up, so they are not checked again, and only paused
// campaigns use them, because their links would not open.
import type { Transaction } from 'kysely'
import { DAY_MS } from '../src/contract/days.ts'
import { newId } from '../src/contract/ids.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import { problem } from '../src/traffic/domains/problems.ts'
import type { Place } from './traffic.ts'

const IN_SERVICE = 'go.demo-media.example'
const AWAITED = 'offers.demo-media.example'
/** From the range for documentation. */
const ADDRESS = '203.0.113.10'

const ROOT = '{"type":"redirect","url":"https://demo-media.example/"}'

const record = (name: string, found: string[]) => ({
  type: 'A',
  name,
  value: ADDRESS,
  why: 'pointing',
  is_needed: true,
  found,
})

type Founded = { org_id: number; founded: number; now: number }

/** Inserts them. The organization's paused campaigns use the active domain. */
export async function insertDomains(
  trx: Transaction<Tables>,
  { org_id, founded, now }: Founded,
  places: readonly Place[],
): Promise<void> {
  const [id, added] = [newId(founded + DAY_MS), new Date(founded + DAY_MS).toISOString()]
  // Another demo on this database may have the name.
  const held = await trx
    .insertInto('domain_names')
    .values({ name: IN_SERVICE, org_id, domain_id: id, way: 'pointing', proven_at: added })
    .onConflict(on => on.column('name').doNothing())
    .executeTakeFirst()
  const isHeld = held.numInsertedOrUpdatedRows === 1n
  const common = { org_id, https: 'optional', robots: 'refuse', root: ROOT, unknown_path: '{"type":"not_found"}' }
  const rows = [inService({ id, added, now, isHeld }), awaited(now)]
  await trx
    .insertInto('domains')
    .values(rows.map(row => ({ ...common, ...row, updated_at: row.checked_at })))
    .execute()
  const paused = places.filter(({ campaign }) => campaign.status === 'paused').map(({ campaign_id }) => campaign_id)
  if (!isHeld || paused.length === 0) return
  await trx
    .updateTable('campaigns')
    .set({ domain_id: id })
    .where('org_id', '=', org_id)
    .where('id', 'in', paused)
    .execute()
}

const checkedAt = (now: number): string => new Date(now - 40 * 60_000).toISOString()

function inService({ id, added, now, isHeld }: { id: string; added: string; now: number; isHeld: boolean }) {
  const until = new Date(now + 41 * DAY_MS).toISOString()
  return {
    id,
    name: IN_SERVICE,
    status: isHeld ? 'active' : 'lost',
    records: JSON.stringify([record(IN_SERVICE, [ADDRESS])]),
    found: JSON.stringify({ arrived: true, addresses: [ADDRESS], problems: [] }),
    certificate: JSON.stringify({ issuer: "Let's Encrypt (made up)", not_after: until, problem: null }),
    checked_at: checkedAt(now),
    proven_at: added,
    last_visit_at: new Date(now - 3 * 60_000).toISOString(),
    created_at: added,
  }
}

function awaited(now: number) {
  const problems = [problem('no_such_name', { name: AWAITED })]
  return {
    id: newId(now - DAY_MS),
    name: AWAITED,
    status: 'pending',
    records: JSON.stringify([record(AWAITED, [])]),
    found: JSON.stringify({ arrived: false, addresses: [], problems }),
    checked_at: checkedAt(now),
    created_at: new Date(now - DAY_MS).toISOString(),
  }
}
