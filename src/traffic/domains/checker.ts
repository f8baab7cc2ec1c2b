/**
 * Runs the checks of domains: those that are due, round by round, and those that somebody asks for. A round claims a domain by moving its next
 * check on, so that of several processes one looks at it; a check that is lost with its process is made up for a minute later.
 */
import { sql } from 'kysely'
import { MINUTE_MS } from '../../contract/days.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds } from '../../ground/rounds.ts'
import { checkName } from './check.ts'
import { announceDomains } from './live.ts'
import { type Claim, settle } from './settle.ts'

const POLL_MS = 2000
/** Each waits ten seconds at most, nearly all of it for others. */
const MOST_AT_ONCE = 20
const LEASE_MS = MINUTE_MS

export type Checker = {
  /** Checks a domain now and writes down what was found. Calls at once share one check. */
  check(claim: Claim): Promise<void>
  /** Resolves when no check of the domain is under way here: what it found is then served as well. */
  settled(id: string): Promise<void>
  /** Waits for those under way. */
  close(): Promise<void>
}

type Checking = Pick<Ground, 'db' | 'database' | 'config' | 'secrets' | 'log'>

/** Opens the checks that people ask for. */
export function openChecker(ground: Checking): Checker {
  const running = new Map<string, Promise<void>>()
  const run = async (claim: Claim) => {
    const found = await checkName(ground, claim.name)
    if ((await settle(ground, claim, found)).length > 0) await announceDomains(ground.db)
  }
  return {
    check(claim) {
      const under_way = running.get(claim.id)
      if (under_way !== undefined) return under_way
      const checked = run(claim).finally(() => running.delete(claim.id))
      running.set(claim.id, checked)
      return checked
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

/** Checks the domains that are due. Answers whether there may be more. */
async function checkDue(ground: Checking, checker: Pick<Checker, 'check'>): Promise<boolean> {
  const { rows } = await askEverywhere<Claim>(ground.database.worker, DUE)
  await Promise.all(
    rows.map(async claim => {
      if (!(await isClaimed(ground, claim))) return
      await checker.check(claim).catch((error: unknown) => {
        ground.log.warn({ err: error, domain: claim.name }, 'a domain could not be checked; it is tried again')
      })
    }),
  )
  return rows.length === MOST_AT_ONCE
}

async function isClaimed({ db }: Checking, { org_id, id }: Claim): Promise<boolean> {
  const { rows } = await sql<{ until: string }>`
    select now() + ${LEASE_MS}::int * interval '1 millisecond' as until`.execute(db)
  const claimed = await sql`
    update domains set next_check_at = ${rows[0]?.until}
    where org_id = ${org_id} and id = ${id} and deleted_at is null and next_check_at <= now()`.execute(db)
  return claimed.numAffectedRows === 1n
}

/** Has the domain of a name checked by the next round: what it shows by https has changed. */
export async function checkSoon({ db }: Pick<Ground, 'db'>, name: string): Promise<void> {
  const { rows } = await sql<{ org_id: number; domain_id: string; now: string }>`
    select org_id, domain_id, now() as now from domain_names where name = ${name}`.execute(db)
  for (const { org_id, domain_id, now } of rows)
    await sql`
      update domains set next_check_at = ${now}
      where org_id = ${org_id} and id = ${domain_id} and deleted_at is null`.execute(db)
}

/** Checks what is due until it is closed; any number of processes may. */
export function openDomainChecks(ground: Checking): { close(): Promise<void> } {
  const checker = openChecker(ground)
  const rounds = openRounds(
    'domains/checker',
    POLL_MS,
    async signal => {
      while (!signal.aborted && (await checkDue(ground, checker)));
    },
    error => ground.log.warn({ err: error }, 'domains could not be looked at; it is tried again'),
  )
  return {
    async close() {
      await rounds.close()
      await checker.close()
    },
  }
}
