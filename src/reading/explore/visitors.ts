/**
 * Counts unique visitors: exactly for few clicks, and by a sample of the visitors for many. The sample is random, because visitors are known by a
 * keyed hash. Groups with few clicks are counted exactly even then.
 */
import { MOST_EXACT_VISITORS } from '../../contract/explore.ts'
import { UNIQUE_VISITORS } from '../../contract/explore-measures.ts'
import type { ScanRow } from './engine.ts'
import { isInGroup, type Asking, joinedTo } from './rows.ts'
import { areVisitorsGone } from './scan.ts'
import { type Sums } from './sums.ts'

/** The visitors of a level: `seen` has the rows of the sample, one visitor in `every`; `facts` the rows of all visitors. */
export type Visitors = { readonly every: number; readonly seen: string; readonly facts: string }

/** With more clicks than this, visitors are estimated. */
export type VisitorLimits = { readonly exact_visitors: number }
export const VISITOR_LIMITS: VisitorLimits = { exact_visitors: MOST_EXACT_VISITORS }

/** With this many visitors in the sample, a group is estimated within one or two percent. */
const ENOUGH = 4096

/** The sampling rate for a number of clicks: one visitor in this many is counted. A power of two. */
export function sampleFor(clicks: bigint, { exact_visitors }: VisitorLimits): number {
  let every = 1
  while (clicks > BigInt(exact_visitors) * BigInt(every)) every *= 2
  return every
}

/** Stores the sample of a window's visitors; undefined if the question does not ask for visitors or they cannot be counted. */
export async function visitorsIn(
  { ask, facts, question, window, prefix, clicks }: Asking,
  every: number,
): Promise<Visitors | undefined> {
  if (!question.measures.includes(UNIQUE_VISITORS) || areVisitorsGone(facts, window)) return undefined
  const all = clicks(['visitor', 'sign'])
  const seen = `${prefix}seen`
  await ask(
    `create temp table ${seen} as from ${all} where ${every === 1 ? 'visitor is not null' : `visitor & ${every - 1} = 0`}`,
  )
  return { every, seen, facts: all }
}

/** The visitors of the groups kept on the level `at`. */
export async function visitorsBelow(asking: Asking, at: number, { every, seen, facts }: Visitors): Promise<Visitors> {
  const next = `${asking.prefix}seen${at}`
  await asking.ask(`create temp table ${next} as from ${joinedTo(asking, at, seen, ['visitor', 'sign'])}`)
  return { every, seen: next, facts: joinedTo(asking, at, facts, ['visitor', 'sign']) }
}

export async function visitorsOf(
  { ask }: Asking,
  visitors: Visitors | undefined,
): Promise<Pick<Sums, 'unique_visitors'>> {
  if (visitors === undefined) return {}
  const [row] = await ask(countVisitors('p as id', visitors.seen, visitors.every))
  return { unique_visitors: BigInt((row?.['visitors'] as bigint | undefined) ?? 0n) }
}

/** SQL of `id` and `visitors`. A click that was taken out of a group has two rows there, whose signs cancel. */
export function countVisitors(id: string, from: string, every: number): string {
  return `select id, count(*) * ${every} as visitors from (
    select ${id}, visitor from ${from} where visitor is not null group by all having sum(sign) > 0
  ) group by id`
}

type VisitorsOf = (id: number) => Pick<Sums, 'unique_visitors'>
const NONE: VisitorsOf = () => ({})

/** The unique visitors of each kept group, and of `other` below each parent row. */
export async function visitorsOfLevel(
  { ask, levels }: Asking,
  visitors: Visitors | undefined,
  at: number,
  { isWhole, exact_visitors }: { isWhole: boolean } & VisitorLimits,
): Promise<[VisitorsOf, VisitorsOf]> {
  if (visitors === undefined) return [NONE, NONE]
  const { every, seen, facts } = visitors
  const keptIn = (from: string, kept: string) =>
    `(select up.id, f.visitor, f.sign from ${from} f join ${kept} up on ${isInGroup(levels, at)})`
  const kept = await ask(countVisitors('id', keptIn(seen, `l${at}`), every))
  const most = { each: ENOUGH * every, all: exact_visitors }
  const few = every === 1 ? [] : await exactOf(ask, at, most, of => countVisitors('id', keptIn(facts, of), 1))
  const own = lookUp([...kept, ...few])
  if (isWhole) return [own, NONE]
  const left = `(from ${seen} f where not exists (select 1 from l${at} up where ${isInGroup(levels, at)}))`
  return [own, lookUp(await ask(countVisitors('p as id', left, every)))]
}

/** Counts exactly the kept groups with too few clicks for the sample, starting with the smallest, up to `most.all` clicks together. */
async function exactOf(
  ask: Asking['ask'],
  at: number,
  most: { readonly each: number; readonly all: number },
  count: (few: string) => string,
): Promise<readonly ScanRow[]> {
  const few = `(select * from l${at} where id in (
    select id from (select id, sum(clicks) over (order by clicks, id) as so_far from l${at} where clicks <= ${most.each})
    where so_far <= ${most.all}
  ))`
  const [row] = await ask(`select count(*) as n from ${few}`)
  return Number(row?.['n'] ?? 0) === 0 ? [] : ask(count(few))
}

function lookUp(rows: readonly ScanRow[]): VisitorsOf {
  const visitorsById = new Map(rows.map(row => [Number(row['id']), BigInt(row['visitors'] as bigint)]))
  return id => ({ unique_visitors: visitorsById.get(id) ?? 0n })
}
