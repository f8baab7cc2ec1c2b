/**
 * The domains in service, in memory: every visit asks for its own. NOTIFY brings changes at once, a look at what has changed lately is the truth
 * behind it, and while the database is away what is here goes on being served. Owns no table.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { listen } from '../../ground/db/listen.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { inTurn } from '../../ground/in-turn.ts'
import type { DomainHost, Ground } from '../../ground/room.ts'
import { type Counted, openCounts } from './figures.ts'

export type LiveDomains = {
  /** The domain of a name in DNS, if an organization has proven it. */
  find: (name: string) => DomainHost | undefined
  /** Reads what has changed; resolves when this process serves it. */
  refresh: () => Promise<void>
  close: () => Promise<void>
}

const CHANNEL = 'sluice_domains'
const POLL_MS = 1000
/** A database that hangs must not hold the answer to a change that was made. */
const ANNOUNCE_MS = 2000
/** Covers transactions that committed after their `updated_at`, and clocks of a sharded database's nodes. */
const OVERLAP = `interval '10 seconds'`

const CHANGED = (among: Among) => `
  select d.org_id, d.id, d.name, d.https, d.root, d.unknown_path, d.robots, n.name is not null as is_held,
    d.status, d.deleted_at is not null as is_deleted, d.certificate is not null and d.certificate ->> 'problem' is null as has_certificate
  from domains d
  left join domain_names n on n.name = d.name and n.org_id = d.org_id and n.domain_id = d.id
  where d.updated_at >= $1${among('d.org_id')}`

type Row = Omit<DomainHost, 'is'> & Counted & { readonly is_held: boolean }

const opened = new WeakMap<Kysely<Tables>, Set<LiveDomains>>()

/** Loads the domains and keeps them fresh until it is closed. */
export async function openLiveDomains({
  database,
  db,
  log,
}: Pick<Ground, 'database' | 'db' | 'log'>): Promise<LiveDomains> {
  const pool = database.clicks
  const counts = openCounts()
  let names = new Map<string, DomainHost>()
  let since = ''
  let isAllWanted = true
  let isStale = false
  /** While a node of a cluster is away its organizations' changes are missed. */
  let isMissingSome = false

  const read = async () => {
    const isAll = isAllWanted
    isAllWanted = false
    try {
      const { rows: clock } = await pool.query<{ since: string }>(`select clock_timestamp() - ${OVERLAP} as since`)
      const { rows, isWhole } = await askEverywhere<Row>(pool, CHANGED, [isAll ? '-infinity' : since])
      names = apply(isAll && isWhole ? new Map() : names, rows)
      counts.note(rows, isAll && isWhole)
      since = clock[0]?.since ?? since
      // Read anew once every node is there again, because what was missed meanwhile lies before `since`.
      if (isWhole && isMissingSome && !isAll) isAllWanted = true
      isMissingSome = !isWhole
      isStale = false
    } catch (error) {
      isAllWanted ||= isAll
      throw error
    }
  }
  const refresh = inTurn(read)
  const refreshed = () =>
    void refresh().catch((error: unknown) => {
      if (!isStale) log.warn({ err: error }, 'domains cannot be refreshed; traffic goes by what is in memory')
      isStale = true
    })
  const again = () => {
    isAllWanted = true
    refreshed()
  }
  const listening = await listen(database, CHANNEL, { told: refreshed, again })
  await refresh()
  const poll = setInterval(refreshed, POLL_MS)
  poll.unref()
  const live: LiveDomains = {
    find: name => names.get(name),
    refresh,
    async close() {
      clearInterval(poll)
      opened.get(db)?.delete(live)
      await listening.close()
      await refresh.idle()
      counts.close()
    },
  }
  opened.set(db, (opened.get(db) ?? new Set()).add(live))
  return live
}

/** What is held stands under its name; what is not any more goes, unless another domain has taken its place. */
function apply(before: ReadonlyMap<string, DomainHost>, rows: readonly Row[]): Map<string, DomainHost> {
  const names = new Map(before)
  for (const { id, name, is_held } of rows) if (!is_held && names.get(name)?.id === id) names.delete(name)
  for (const { is_held, status: _, is_deleted: __, ...row } of rows)
    if (is_held) names.set(row.name, { is: 'domain', ...row })
  return names
}

/**
 * Tells every process that domains have changed. To be called after the commit and awaited before the answer: then this process serves the
 * change before its author is told that it was made, and the others within a second. Never rejects.
 */
export async function announceDomains(db: Kysely<Tables>): Promise<void> {
  const here = [...(opened.get(db) ?? [])].map(live => live.refresh())
  const elsewhere = sql`select pg_notify(${CHANNEL}, '')`.execute(db)
  await Promise.race([Promise.allSettled([...here, elsewhere]), sleep(ANNOUNCE_MS, undefined, { ref: false })])
}
