/** Recounts the books of workspaces that have receivers, once a day. Owns `books_looks`. */
import { sql } from 'kysely'
import { dayOf } from '../../contract/days.ts'
import type { Ground } from '../../ground/room.ts'
import { booksHold, recountBooks } from '../../reading/audit/reconcile.ts'
import type { Alert } from './tell.ts'

/** Whether this process is the one that recounts the books today. */
async function claimDay({ db }: Pick<Ground, 'db'>, org_id: number, day: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into books_looks as l (org_id, day) values (${org_id}, ${day})
    on conflict (org_id) do update set day = excluded.day where l.day < excluded.day`.execute(db)
  return (numAffectedRows ?? 0n) > 0n
}

/** Lets a recount that failed be tried again in the next round. */
async function releaseDay({ db }: Pick<Ground, 'db'>, org_id: number, day: string): Promise<void> {
  await sql`update books_looks set day = ${day}::date - 1 where org_id = ${org_id} and day = ${day}`.execute(db)
}

/** The alert that the books are wrong, or that they are right again; undefined if they were recounted today. */
export async function findBooks(
  ground: Pick<Ground, 'db' | 'database'>,
  org_id: number,
  now: number,
): Promise<Alert | undefined> {
  if (!(await claimDay(ground, org_id, dayOf(now)))) return undefined
  const audit = await recountBooks(ground.database.worker, org_id).catch(async (error: unknown) => {
    await releaseDay(ground, org_id, dayOf(now))
    throw error
  })
  const count = audit.findings.length + audit.figures.filter(({ kept, counted }) => kept !== counted).length
  return {
    kind: 'books_wrong',
    phase: booksHold(audit) ? 'over' : 'begins',
    episode_key: 'books_wrong',
    object: { kind: 'billing', id: null, name: null },
    rule: null,
    text: booksHold(audit)
      ? 'The books reconcile again.'
      : `The books do not reconcile: ${count} ${count === 1 ? 'figure differs' : 'figures differ'} from a recount.`,
    figures: { count },
    url: '/billing',
    at: new Date(now).toISOString(),
  }
}
