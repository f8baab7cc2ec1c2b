/** Which types of events count as the conversion: the workspace's, and those of campaigns that say otherwise. */
import type pg from 'pg'
import { USUAL_GOAL } from './api.ts'

/** `own` are the campaigns with a goal of their own, deleted ones too: their clicks are in reports all the same. */
export type Goals = {
  readonly goal: readonly string[]
  readonly own: readonly { readonly id: string; readonly goal: readonly string[] }[]
}

const READ = `select null::uuid as id, goal from event_settings where org_id = $1
  union all select id, goal from campaigns where org_id = $1 and goal is not null`

/** The goals of an organization as they are now. */
export async function readGoals(db: Pick<pg.Pool, 'query'>, org_id: number): Promise<Goals> {
  const { rows } = await db.query<{ id: string | null; goal: string[] }>(READ, [org_id])
  const goal = rows.find(({ id }) => id === null)?.goal ?? USUAL_GOAL
  const own = rows.flatMap(({ id, goal: of }) => (id === null || isAlike(of, goal) ? [] : [{ id, goal: of }]))
  return { goal, own }
}

const isAlike = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every(type => other.includes(type))
