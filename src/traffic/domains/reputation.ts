/**
 * Asks Google Web Risk about the names in service, if the operator has a key: browsers warn about listed names, which makes them useless in ads.
 * A verdict may be shown for half an hour, so each name is asked again before that, and a verdict that could not be renewed is not shown. People
 * decide what to do: replacing names automatically would evade Google's reviews.
 */
import { sql } from 'kysely'
import { z } from 'zod'
import { MINUTE_MS } from '../../contract/days.ts'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import type { DomainRef } from './results.ts'
import type { StoredFlag } from './rows.ts'

const POLL_MS = 5000
const INTERVAL_MS = 25 * MINUTE_MS
const MOST_AT_ONCE = 10
const TIMEOUT_MS = 10_000
const THREATS = ['MALWARE', 'SOCIAL_ENGINEERING', 'UNWANTED_SOFTWARE'] as const

const DUE = (among: Among) => `
  select d.org_id, d.id, d.name, d.flagged
  from domains d
  where d.deleted_at is null and d.status in ('active', 'failing')
    and (d.looked_up_at is null or d.looked_up_at < now() - $1::int * interval '1 millisecond')${among('d.org_id')}
  order by d.looked_up_at nulls first
  limit ${MOST_AT_ONCE}`

const Verdict = z.object({ threat: z.object({ threatTypes: z.array(z.string()) }).optional() })

type ReputationGround = Pick<Ground, 'db' | 'database' | 'config' | 'log'>
type DueDomain = DomainRef & { flagged: StoredFlag | null }

/** Looks up the names that are due until it is closed; without a key it does nothing. Any number of processes may. */
export function openReputation(ground: ReputationGround): Rounds {
  const { webRiskKey } = ground.config
  if (webRiskKey === undefined) return { close: async () => {} }
  return openRounds(
    'domains/reputation',
    POLL_MS,
    async signal => {
      while (!signal.aborted && (await lookUpDue(ground, webRiskKey)));
    },
    error => ground.log.warn({ err: error }, 'could not ask Web Risk; retrying'),
  )
}

async function lookUpDue(ground: ReputationGround, key: string): Promise<boolean> {
  const { rows } = await askEverywhere<DueDomain>(ground.database.worker, DUE, [INTERVAL_MS])
  await Promise.all(
    rows.map(async due => {
      if (await claimLookUp(ground, due)) await lookUp(ground, key, due)
    }),
  )
  return rows.length === MOST_AT_ONCE
}

async function claimLookUp({ db }: ReputationGround, { org_id, id }: DomainRef): Promise<boolean> {
  const now = await databaseTimeIn(db, 0)
  const claimed = await sql`
    update domains set looked_up_at = ${now}
    where org_id = ${org_id} and id = ${id}
      and (looked_up_at is null or looked_up_at < now() - ${INTERVAL_MS}::int * interval '1 millisecond')`.execute(db)
  return claimed.numAffectedRows === 1n
}

async function lookUp(
  { db, config, log }: ReputationGround,
  key: string,
  { org_id, id, name, flagged }: DueDomain,
): Promise<void> {
  try {
    const threats = await threatsOf(config.webRiskBase, key, name)
    const since = flagged?.since ?? new Date().toISOString()
    const found = threats.length === 0 ? null : JSON.stringify({ threats, since })
    await sql`update domains set flagged = ${found}::jsonb where org_id = ${org_id} and id = ${id}`.execute(db)
  } catch (error) {
    // An old verdict may not be shown.
    await sql`update domains set flagged = null where org_id = ${org_id} and id = ${id}`.execute(db)
    log.warn({ err: error, domain: name }, 'Web Risk gave no verdict on a domain; retrying')
  }
}

async function threatsOf(base: string, key: string, name: string): Promise<string[]> {
  const query = new URLSearchParams(THREATS.map((threat): [string, string] => ['threatTypes', threat]))
  query.set('uri', `http://${name}/`)
  // The key is in a header, because URLs appear in logs.
  const answer = await fetch(`${base}/v1/uris:search?${query.toString()}`, {
    headers: { 'x-goog-api-key': key },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
  })
  if (!answer.ok) throw new Error(`Web Risk answered ${answer.status}`)
  return Verdict.parse(await answer.json()).threat?.threatTypes ?? []
}
