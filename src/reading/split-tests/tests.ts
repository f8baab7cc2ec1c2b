/**
 * The split tests of funnels and click flows: the landings and the offers of a funnel, and each split of a published flow, if visitors are shared
 * between at least two variants. Owns no table. Reads `campaigns`, `organizations`, `test_ends`, `automatic_tests`, and what `funnel-tests.ts` and
 * `flow-tests.ts` name.
 */
import { type Kysely, sql } from 'kysely'
import { DAY_MS, MINUTE_MS } from '../../contract/days.ts'
import type { Call } from '../../contract/endpoint.ts'
import { minutesAhead } from '../../contract/time-zones.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, type Ground, idOf } from '../../ground/room.ts'
import { readGoals } from '../../traffic/event-settings/goals.ts'
import { readEnds } from '../../traffic/test-ends/history.ts'
import type { TestPlace } from '../../traffic/test-ends/variants.ts'
import type * as api from './api.ts'
import { countedSince, countVariants } from './counts.ts'
import { testsOfFlow } from './flow-tests.ts'
import { testsOfFunnel } from './funnel-tests.ts'
import { judge, type JudgedTest } from './verdict.ts'

/** A test looks back no further. */
const LONGEST_MS = 90 * DAY_MS

/** Weights are moved once a test has so many matured conversions. */
const LEAST_CONVERSIONS = 50
/** Of more variants not each one can keep 5 % of the visitors. */
const MOST_VARIANTS = 20

/** The tests of a funnel. Refuses `object_not_found`. */
export async function readFunnelTests(
  context: Context<typeof api.readFunnelTests>,
  { params }: Call<typeof api.readFunnelTests>,
) {
  return { data: await judgedTests(context, context.actor.org_id, { of: 'funnel', id: idOf(params.id) }) }
}

/** The tests of a click flow: one for each split of its published version. Refuses `object_not_found`. */
export async function readClickFlowTests(
  context: Context<typeof api.readClickFlowTests>,
  { params }: Call<typeof api.readClickFlowTests>,
) {
  return { data: await judgedTests(context, context.actor.org_id, { of: 'click_flow', id: idOf(params.id) }) }
}

/** The tests of a funnel or a click flow with their figures; with `test` that one alone. Refuses `object_not_found`. */
export async function judgedTests(
  { database, db }: Pick<Ground, 'database' | 'db'>,
  org_id: number,
  { of, id, test: only }: Pick<TestPlace, 'of' | 'id'> & Partial<TestPlace>,
): Promise<api.SplitTest[]> {
  const all = of === 'funnel' ? await testsOfFunnel(db, org_id, id) : await testsOfFlow(db, org_id, id)
  const tests = all.filter(one => only === undefined || one.id === only)
  if (tests.length === 0) return []
  const now_ms = Date.now()
  const campaigns = await campaignsTo(db, org_id, of, id)
  const goals = await readGoals(database.reads, org_id)
  const ends = await readEnds(db, org_id, id)
  const switches = await switchesOf(db, org_id, id)
  const judged: api.SplitTest[] = []
  for (const { variant, variants, since_ms: begun_ms, moves_ms, last_move_ms, waits_for, ...test } of tests) {
    const kept_ms = Math.max(begun_ms, now_ms - LONGEST_MS)
    const since_ms = await countedSince(database.reads, { org_id, campaigns, since_ms: kept_ms })
    const end = ends?.[test.id]
    const until_ms = end?.at_ms ?? now_ms + 1
    const keys = variants.map(({ key }) => key)
    const within = { since_ms, moves_ms: moves_ms.filter(ms => ms > since_ms), until_ms, now_ms }
    const counts = await countVariants(database.reads, { org_id, campaigns, variant, variants: keys, ...within }, goals)
    const kept = variants.find(({ key }) => key === end?.winner)?.id
    const counted = variants.map(({ key: _, ...named }, at) => ({ ...named, counted: counts[at] ?? [] }))
    const one = judge({ test, variants: counted, since_ms, now_ms, kept })
    const turned = switches.find(each => each.test === test.id)
    const moving = { now_ms, last_move_ms, zone: turned?.zone ?? 'UTC', refused: turned?.refused ?? null }
    const automatic = turned?.automatic === true
    judged.push({
      ...one,
      automatic,
      weight_moves: {
        last_at: last_move_ms === undefined ? null : new Date(last_move_ms).toISOString(),
        waits_for: automatic && one.state !== 'ended' ? (waits_for ?? waitOf(one, moving)) : null,
      },
    })
  }
  return judged
}

/** A day later in a time zone, at the same time. */
export function nextDayIn(zone: string, ms: number): number {
  const ahead = (at: number) => (minutesAhead(zone, at) ?? 0) * MINUTE_MS
  return ms + DAY_MS + ahead(ms) - ahead(ms + DAY_MS)
}

type Moving = {
  readonly now_ms: number
  readonly last_move_ms: number | undefined
  readonly zone: string
  readonly refused: string | null
}

/** What the automatic weights of a test wait for. */
function waitOf({ heavy_tail, variants }: JudgedTest, { now_ms, last_move_ms, zone, refused }: Moving) {
  if (variants.length > MOST_VARIANTS) return 'variants'
  if (variants.reduce((sum, { conversions }) => sum + conversions, 0) < LEAST_CONVERSIONS) return 'conversions'
  if (heavy_tail) return 'heavy_tail'
  if (last_move_ms !== undefined && now_ms < nextDayIn(zone, last_move_ms)) return 'next_day'
  return refused === null ? null : 'refused'
}

/** The switches of the tests, with the time zone of the workspace. */
async function switchesOf(db: Kysely<Tables>, org_id: number, object_id: string) {
  return await db
    .selectFrom('automatic_tests as t')
    .innerJoin('organizations as o', 'o.org_id', 't.org_id')
    .select(['t.test', 't.automatic', 't.refused', 'o.timezone as zone'])
    .where('t.org_id', '=', org_id)
    .where('t.object_id', '=', object_id)
    .execute()
}

/** The campaigns that lead to a funnel or a click flow, with deleted ones. */
async function campaignsTo(db: Kysely<Tables>, org_id: number, type: string, id: string) {
  const rows = await db
    .selectFrom('campaigns')
    .select('id')
    .where('org_id', '=', org_id)
    .where(sql<boolean>`destination ->> ${`${type}_id`} = ${id}`)
    .execute()
  return rows.map(row => row.id)
}
