/**
 * Runs the checks of domains: those that are due, in a periodic job, and those that a person asks for. The job claims a domain by moving its next
 * check a minute ahead, so that only one process checks it. If that process dies, the check runs a minute later.
 */
import { sql } from 'kysely'
import { MINUTE_MS } from '../../contract/days.ts'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { openQuiet } from '../../ground/db/quiet.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds } from '../../ground/rounds.ts'
import { checkName } from './check.ts'
import { announceDomains } from './live.ts'
import { type DomainRef, writeCheck } from './results.ts'

const POLL_MS = 2000
/** Each check takes at most ten seconds, mostly waiting. */
const MOST_AT_ONCE = 20
const LEASE_MS = MINUTE_MS

export type Checker = {
  /** Checks a domain now and writes the result. Concurrent calls share one check. */
  check(domain: DomainRef): Promise<void>
  /** Resolves when no check of the domain is running in this process, so that its result is served. */
  settled(id: string): Promise<void>
  /** Waits for the running checks. */
  close(): Promise<void>
}

type CheckerGround = Pick<Ground, 'db' | 'database' | 'config' | 'secrets' | 'log'>

/** Opens the checks that people ask for. */
export function openChecker(ground: CheckerGround): Checker {
  const running = new Map<string, Promise<void>>()
  const run = async (domain: DomainRef) => {
    const result = await checkName(ground, domain.name)
    if ((await writeCheck(ground, domain, result)).length > 0) await announceDomains(ground.db)
  }
  return {
    check(domain) {
      const current = running.get(domain.id)
      if (current !== undefined) return current
      const check = run(domain).finally(() => running.delete(domain.id))
      running.set(domain.id, check)
      return check
    },
    async settled(id) {
      await running.get(id)?.catch(() => {})
    },
    close: async () => void (await Promise.allSettled(running.values())),
  }
}

const DUE = (among: Among) => `
  select d.org_id, d.id, d.name
  from domains d
  where d.deleted_at is null and d.next_check_at <= now()${among('d.org_id')}
  order by d.next_check_at
  limit ${MOST_AT_ONCE}`

/** Checks the domains that are due. Returns whether there may be more. */
async function checkDue(ground: CheckerGround, checker: Pick<Checker, 'check'>): Promise<boolean> {
  const { rows } = await askEverywhere<DomainRef>(ground.database.worker, DUE)
  await Promise.all(
    rows.map(async domain => {
      if (!(await claimDomain(ground, domain))) return
      await checker.check(domain).catch((error: unknown) => {
        ground.log.warn({ err: error, domain: domain.name }, 'could not check a domain; retrying')
      })
    }),
  )
  return rows.length === MOST_AT_ONCE
}

async function claimDomain({ db }: CheckerGround, { org_id, id }: DomainRef): Promise<boolean> {
  const until = await databaseTimeIn(db, LEASE_MS)
  const claimed = await sql`
    update domains set next_check_at = ${until}
    where org_id = ${org_id} and id = ${id} and deleted_at is null and next_check_at <= now()`.execute(db)
  return claimed.numAffectedRows === 1n
}

/** Makes the domain of a name due for a check, because its certificate has changed. */
export async function checkDomainSoon({ db }: Pick<Ground, 'db'>, name: string): Promise<void> {
  const { rows } = await sql<{ org_id: number; domain_id: string; now: string }>`
    select org_id, domain_id, now() as now from domain_names where name = ${name}`.execute(db)
  for (const { org_id, domain_id, now } of rows)
    await sql`
      update domains set next_check_at = ${now}
      where org_id = ${org_id} and id = ${domain_id} and deleted_at is null`.execute(db)
}

/** Checks the domains that are due until it is closed; any number of processes may. */
export function openDomainChecks(ground: CheckerGround): { close(): Promise<void> } {
  const checker = openChecker(ground)
  const rounds = openRounds(
    'domains/checker',
    POLL_MS,
    async signal => {
      while (!signal.aborted && (await checkDue(ground, checker)));
    },
    error => ground.log.warn({ err: error }, 'could not read the domains to check; retrying'),
    openQuiet(
      ground.database.worker,
      among =>
        `select min(next_check_at) as at from domains where deleted_at is null and next_check_at > now()${among('org_id')}`,
    ),
  )
  return {
    async close() {
      await rounds.close()
      await checker.close()
    },
  }
}
