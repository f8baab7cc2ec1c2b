/**
 * Stores the periodic jobs that keep failing, so that the process that serves the dashboard knows those of all processes. Owns the table
 * `failing_rounds`.
 */
import { sql } from 'kysely'
import { newId } from '../../contract/ids.ts'
import type { Ground } from '../../ground/room.ts'
import { failingAtLeast } from '../../ground/round-watch.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { firstOrganization } from '../../traffic/certificates/names.ts'

/** Fewer failures in a row are normal, such as a missed lock or a broken connection. */
const MANY = 3
const TELL_MS = 5000

type FailingRound = { readonly round: string; readonly failing_since: string }

/** Stores every five seconds which periodic jobs of this process keep failing, until it is closed. */
export function openFailingRounds({ db, log }: Pick<Ground, 'db' | 'log'>): Rounds {
  const process_id = newId()
  let hasRows = false
  const write = async () => {
    const failing = failingAtLeast(MANY)
    if (failing.length === 0 && !hasRows) return
    for (const { round, since } of failing)
      await sql`
        insert into failing_rounds (process_id, round, failing_since, told_at) values (${process_id}, ${round}, ${since}, now())
        on conflict (process_id, round) do update set failing_since = excluded.failing_since, told_at = excluded.told_at`.execute(
        db,
      )
    hasRows = failing.length > 0
    await sql`
      delete from failing_rounds
      where process_id = ${process_id} and not round = any(${failing.map(({ round }) => round)}::text[])
        or told_at < now() - interval '1 hour'`.execute(db)
  }
  return openRounds('failing-rounds', TELL_MS, write, error =>
    log.warn({ err: error }, 'could not store which rounds keep failing; retrying'),
  )
}

/** The periodic jobs that fail in any process, by name, and since when. Only for the organization that Sluice was set up with, which runs it. */
export async function listFailingRounds(db: Ground['db'], org_id: number): Promise<FailingRound[]> {
  const { rows } = await sql<FailingRound>`
    select round, min(failing_since) as failing_since from failing_rounds
    where told_at > now() - interval '1 minute' group by round order by round`.execute(db)
  return rows.length > 0 && (await firstOrganization(db)) === org_id ? rows : []
}
