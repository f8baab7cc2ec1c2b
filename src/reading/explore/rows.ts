/**
 * What a level of a question is found in: the rows that were kept of the level above, not all facts again; and in their place, where the keys that are
 * left come to few groups, those groups.
 */
import { UNIQUE_VISITORS } from '../../contract/explore.ts'
import type { Window } from '../../contract/window.ts'
import type { Ask } from './engine.ts'
import type { Question } from './question.ts'
import { type Facts, factsOf, keyName, madeIn, named, type Sum, type Sums, summed, sumsIn } from './scan.ts'

/** Rows that a level is found in: `p`, the row above, keys from `at` on, and the columns of its sums. */
type Rows = { readonly sql: string; readonly isShort: boolean }

/** What is asked of one window. */
type Asking = {
  readonly ask: Ask
  readonly facts: Facts
  readonly question: Question
  readonly window: Window
  readonly sums: readonly Sum[]
  /** Of the temporary tables of this window. */
  readonly prefix: string
  /** The levels that are answered. */
  readonly first: number
  readonly end: number
}

/** How unique visitors are counted; undefined where nobody asks. */
export type Visitors = 'exact' | 'estimate' | undefined

/** What a level is asked of: sums of short rows, where there are such, visitors of the rows of each fact. */
export type Ground = { readonly asking: Asking; readonly rows: Rows; readonly facts: Rows; readonly visitors: Visitors }

/** So many rows are kept for the next level; of more, all are read again. */
const MOST_KEPT = 2_000_000
/** Rows are put together where it makes at most one of so many. */
const SHORTENED = 8

/** The rows of the first level, and the sums of all of them. */
export async function begin(asking: Asking): Promise<{ ground: Omit<Ground, 'visitors'>; totals: Sums }> {
  const { ask, facts, question, sums, window, first, end } = asking
  const levels = question.levels.slice(first, end).map(({ dimension }, place) => ({ dimension, at: first + place }))
  const columns = [...madeIn(sums), ...(question.measures.includes(UNIQUE_VISITORS) ? ['visitor'] : [])]
  const all: Rows = { sql: `(${factsOf(facts, question, window, { levels, columns })})`, isShort: false }
  const rows = (await shortened(asking, all, first, { parents: 1, clicks: await countOf(asking) })) ?? all
  const [row] = await ask(`select ${named(sums)} from (select ${summed(madeIn(sums))} from ${rows.sql})`)
  return { ground: { asking, rows, facts: all }, totals: sumsIn(row, sums) }
}

/** Roughly, how many facts there are in all. */
async function countOf({ ask, facts }: Asking): Promise<number> {
  const [row] = await ask(`select count(*) as n from ${facts.from}`)
  return Number(row?.['n'] ?? 0)
}

/** The rows put together by the keys from `at` on, where these come to far fewer. */
async function shortened(
  { ask, facts, question, sums, prefix, end }: Asking,
  { sql }: Rows,
  at: number,
  { parents, clicks }: { parents: number; clicks: number },
): Promise<Rows | undefined> {
  const levels = question.levels.slice(at, end)
  const groups = levels.reduce((product, { dimension }) => product * facts.valuesOf(dimension), parents)
  if (groups * SHORTENED > clicks) return undefined
  const keys = levels.map((_, place) => keyName(at + place)).join(', ')
  const table = `${prefix}short${at}`
  await ask(`create temp table ${table} as select p, ${keys}, ${summed(madeIn(sums))} from ${sql} group by all`)
  return { sql: table, isShort: true }
}

/** What the level below `at` is found in: of the rows of that level those that were kept. */
export async function below(ground: Ground, at: number, kept: readonly Sums[]): Promise<Ground> {
  const { asking, rows, facts, visitors } = ground
  const { ask, question, sums, prefix, end } = asking
  const clicks = Number(kept.reduce((sum, { clicks }) => sum + clicks, 0n))
  const keys = question.levels.slice(at + 1, end).map((_, place) => `f.${keyName(at + 1 + place)}`)
  const joined = (from: Rows, columns: readonly string[]) =>
    `(select ${['up.id as p', ...keys, ...columns.map(name => `f.${name}`)].join(', ')} from ${from.sql} f join l${at} up on ${alike(at)})`
  const columns = madeIn(sums)
  if (rows.isShort && visitors === undefined) return { ...ground, rows: { sql: joined(rows, columns), isShort: true } }
  const own = visitors === undefined ? columns : [...columns, 'visitor']
  let next: Rows = { sql: joined(facts, own), isShort: false }
  const short = rows.isShort
    ? { sql: joined(rows, columns), isShort: true }
    : visitors === undefined && (await shortened(asking, next, at + 1, { parents: kept.length, clicks }))
  if (short && visitors === undefined) return { ...ground, rows: short, facts: next }
  if (clicks <= MOST_KEPT) {
    await ask(`create temp table ${prefix}kept${at} as from ${next.sql}`)
    next = { sql: `${prefix}kept${at}`, isShort: false }
  }
  return { ...ground, rows: short || next, facts: next }
}

/** `on` of rows and what was kept of their level. */
export const alike = (at: number) => `up.p = f.p and up.k is not distinct from f.${keyName(at)}`
