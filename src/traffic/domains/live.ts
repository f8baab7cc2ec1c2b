/**
 * The domains in service, in memory. Every visit looks up its domain here, also while the database is away. Owns no table.
 */
import type { Kysely } from 'kysely'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { channelFor } from '../../ground/following.ts'
import type { DomainHost, Ground } from '../../ground/room.ts'
import { type CountedDomain, openCounts } from './figures.ts'

export type LiveDomains = {
  /** The domain of a DNS name, if an organization has proven it. */
  find: (name: string) => DomainHost | undefined
  /** Reads the changes. Resolves when this process serves them. */
  refresh: () => Promise<void>
  close: () => Promise<void>
}

/** Covers transactions that commit after their `updated_at`, and the different clocks of a cluster's nodes. */
const OVERLAP = `interval '10 seconds'`

const CHANGED = (among: Among) => `
  select d.org_id, d.id, d.name, d.https, d.root, d.unknown_path, d.robots, n.name is not null as is_held,
    d.status, d.deleted_at is not null as is_deleted, d.certificate is not null and d.certificate ->> 'problem' is null as has_certificate
  from domains d
  left join domain_names n on n.name = d.name and n.org_id = d.org_id and n.domain_id = d.id
  where d.updated_at >= $1${among('d.org_id')}`

type LiveDomainRow = Omit<DomainHost, 'is'> & CountedDomain & { readonly is_held: boolean }

const domains = channelFor('sluice_domains', 'domains')

/** Loads the domains and keeps them fresh until it is closed. */
export async function openLiveDomains(ground: Pick<Ground, 'database' | 'db' | 'log'>): Promise<LiveDomains> {
  const pool = ground.database.clicks
  const counts = openCounts()
  let names = new Map<string, DomainHost>()
  let since = ''
  let isAllWanted = true
  /** Whether the last read missed the organizations of a cluster's node that was away. */
  let isMissingSome = false

  const read = async () => {
    const isAll = isAllWanted
    isAllWanted = false
    try {
      const { rows: clock } = await pool.query<{ since: string }>(`select clock_timestamp() - ${OVERLAP} as since`)
      const { rows, isWhole } = await askEverywhere<LiveDomainRow>(pool, CHANGED, [isAll ? '-infinity' : since])
      names = apply(isAll && isWhole ? new Map() : names, rows)
      counts.note(rows, isAll && isWhole)
      since = clock[0]?.since ?? since
      // Once every node is back, everything is read again, because the missed changes lie before `since`.
      if (isWhole && isMissingSome && !isAll) isAllWanted = true
      isMissingSome = !isWhole
    } catch (error) {
      isAllWanted ||= isAll
      throw error
    }
  }
  const onGap = () => {
    isAllWanted = true
  }
  const { refresh, close } = await domains.follow(ground, { read, onGap })
  return {
    find: name => names.get(name),
    refresh,
    async close() {
      await close()
      counts.close()
    },
  }
}

/** Adds the rows that hold their name, and removes those that no longer do, unless another domain now has the name. */
function apply(before: ReadonlyMap<string, DomainHost>, rows: readonly LiveDomainRow[]): Map<string, DomainHost> {
  const names = new Map(before)
  for (const { id, name, is_held } of rows) if (!is_held && names.get(name)?.id === id) names.delete(name)
  for (const { is_held, status: _, is_deleted: __, ...row } of rows)
    if (is_held) names.set(row.name, { is: 'domain', ...row })
  return names
}

/** Tells every process that domains have changed. Call it after the commit and before the answer. Never rejects. */
export const announceDomains = (db: Kysely<Tables>): Promise<void> => domains.announce(db)
