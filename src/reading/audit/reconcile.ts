/** Recounts the books: of one organization on its screen, of all by `npm run reconcile`. */
import type pg from 'pg'
import { toWireId } from '../../contract/ids.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'
import { MANY_WAITING } from '../segments/seal.ts'
import { type Audit, reconcile } from './audit.ts'
import { exploreStanding } from './explore-checks.ts'

/** One recount per organization and process at a time; further calls get its result. */
const underWay = new Map<number, Promise<{ at: string } & Audit>>()

/** Recounts the caller's organization. Answers the figures and every row that differs. */
export async function reconcileBooks({ database, actor }: Context<typeof api.reconcileBooks>) {
  const { org_id } = actor
  const counting = underWay.get(org_id) ?? recountBooks(database.worker, org_id)
  underWay.set(org_id, counting)
  try {
    const { at, figures, findings, clicks_from } = await counting
    return { at, holds: booksHold({ figures, findings }), clicks_from, figures, findings: findings.map(withWireIds) }
  } finally {
    underWay.delete(org_id)
  }
}

/** Recounts the books of an organization. It reads every click, so `pool` is the one whose statements may take half a minute. */
export async function recountBooks(pool: pg.Pool, org_id: number) {
  return { at: new Date().toISOString(), ...(await reconcile(pool, org_id)) }
}

/** Whether nothing differs. */
export const booksHold = ({ figures, findings }: Pick<Audit, 'figures' | 'findings'>): boolean =>
  findings.length === 0 && figures.every(({ kept, counted }) => kept === counted)

/** A finding with its uuids as ids of the API. */
function withWireIds({ check, wrong }: Audit['findings'][number]) {
  return { check, wrong: wrong.replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, uuid => toWireId(uuid)) }
}

const ORGANIZATIONS = 'select o.org_id, o.id, o.name from organizations o order by o.created_at, o.id'

/** Recounts every organization, deleted ones too, and reports each in one or more lines. Returns how many have faults. */
export async function reconcileAll(pool: pg.Pool, tell: (line: string) => void): Promise<number> {
  const { rows } = await pool.query<{ org_id: number; id: string; name: string }>(ORGANIZATIONS)
  let wrong = 0
  for (const { org_id, id, name } of rows) {
    const audit = await reconcile(pool, org_id)
    const { days, waiting, is_checked } = await exploreStanding(pool, org_id)
    const isRight = booksHold(audit) && !(is_checked && days.length > 0)
    if (!isRight) wrong += 1
    const figures = audit.figures.map(({ name: figure, kept, counted }) =>
      kept === counted ? `${figure.toLowerCase()} ${kept}` : `${figure.toLowerCase()} ${kept}, counted ${counted}`,
    )
    const since = audit.clicks_from === null ? '' : `; clicks since ${audit.clicks_from}`
    tell(`${isRight ? 'right' : 'WRONG'}  ${toWireId(id)}  ${name}: ${figures.join('; ')}${since}`)
    for (const { check, wrong: row } of audit.findings.map(withWireIds)) tell(`       not so: ${check}: ${row}`)
    if (days.length > 0)
      tell(`       ${is_checked ? 'not so' : 'not yet so'}: Explore counts what the report counts: ${days.join(', ')}`)
    if (waiting > MANY_WAITING) tell(`       ${waiting} clicks and changes wait to be sealed for Explore`)
  }
  tell(`${rows.length === 1 ? '1 organization' : `${rows.length} organizations`}, ${wrong} wrong`)
  return wrong
}
