/**
 * What a level of a question is found in: the rows that were kept of the level above, not all facts again; and in their place, where the keys that are
 * left come to few groups, those groups.
 */
import type { Window } from '../../contract/window.ts'
import type { Ask } from './engine.ts'
import type { Question } from './question.ts'
import { type AskedLevel, type Facts, keyName } from './scan.ts'
import { madeIn, named, type Sum, type Sums, summed, sumsIn } from './sums.ts'

/** What is asked of one window. */
export type Asking = {
  readonly ask: Ask
  readonly facts: Facts
  readonly question: Question
  readonly window: Window
  readonly sums: readonly Sum[]
  /** Of the temporary tables of this window. */
  readonly prefix: string
  /** The levels that are answered. */
  readonly levels: readonly AskedLevel[]
  /** The clicks it is about, a relation in SQL of `p`, a key for each level, and these columns. */
  readonly clicks: (columns: readonly string[]) => string
}

/** What a level is asked of: `p`, the row above, keys from its own on, and the columns of its sums. `isShort` where they are put together by all keys. */
export type Rows = { readonly sql: string; readonly isShort: boolean }

/** What the first level is asked of, and where that is not short, what those below it are made of. */
export type Begun = { readonly rows: Rows; readonly all: Rows; readonly totals: Sums }

/** So many rows are kept for the next level; of more, all are read again. */
const MOST_KEPT = 2_000_000
/** Rows are put together where it makes at most one of so many. */
const SHORTENED = 8
/** For one level alone it has to spare more, because those below read all rows again. */
const MUCH_SHORTENED = 1000

/** The rows of the first level, and the sums of all of them. */
export async function begin(asking: Asking): Promise<Begun> {
  const { sums, levels } = asking
  const all: Rows = { sql: asking.clicks(madeIn(sums)), isShort: false }
  const clicks = await countOf(asking)
  const short = await shortened(asking, all, levels, { parents: 1, clicks, least: SHORTENED })
  const first =
    short ?? (await shortened(asking, all, levels.slice(0, 1), { parents: 1, clicks, least: MUCH_SHORTENED }))
  const rows = first ?? all
  return { rows, all: short ?? all, totals: await totalsOf(asking, rows) }
}

/** What these rows come to. */
export async function totalsOf({ ask, sums }: Pick<Asking, 'ask' | 'sums'>, { sql }: Rows): Promise<Sums> {
  const [row] = await ask(`select ${named(sums)} from (select ${summed(madeIn(sums))} from ${sql})`)
  return sumsIn(row, sums)
}

/** Roughly, how many facts there are in all. */
async function countOf({ ask, facts }: Asking): Promise<number> {
  const [row] = await ask(`select count(*) as n from ${facts.from}`)
  return Number(row?.['n'] ?? 0)
}

/** The rows put together by the keys of these levels, where these come to far fewer. */
async function shortened(
  { ask, facts, sums, prefix }: Asking,
  { sql }: Rows,
  levels: readonly AskedLevel[],
  { parents, clicks, least }: { parents: number; clicks: number; least: number },
): Promise<Rows | undefined> {
  const groups = levels.reduce((product, { dimension }) => product * facts.valuesOf(dimension), parents)
  if (groups * least > clicks) return undefined
  const table = `${prefix}short${levels[0]?.at}of${levels.length}`
  const keys = levels.map(({ at }) => keyName(at)).join(', ')
  await ask(`create temp table ${table} as select p, ${keys}, ${summed(madeIn(sums))} from ${sql} group by all`)
  return { sql: table, isShort: true }
}

/** What the level below `at` is found in: of the rows of that level those that were kept. */
export async function below(asking: Asking, rows: Rows, at: number, kept: readonly Sums[]): Promise<Rows> {
  const { ask, sums, prefix, levels } = asking
  const clicks = Number(kept.reduce((sum, { clicks }) => sum + clicks, 0n))
  const next: Rows = { sql: joinedTo(asking, at, rows.sql, madeIn(sums)), isShort: rows.isShort }
  if (rows.isShort) return next
  const left = levels.filter(level => level.at > at)
  const short = await shortened(asking, next, left, { parents: kept.length, clicks, least: SHORTENED })
  if (short !== undefined) return short
  if (clicks > MOST_KEPT) return next
  await ask(`create temp table ${prefix}kept${at} as from ${next.sql}`)
  return { sql: `${prefix}kept${at}`, isShort: false }
}

/** Rows of the level `at` as rows of the next: of those that were kept, each under the number of the one it is of. */
export function joinedTo(
  { levels }: Pick<Asking, 'levels'>,
  at: number,
  from: string,
  columns: readonly string[],
): string {
  const keys = levels.filter(level => level.at > at).map(level => `f.${keyName(level.at)}`)
  const taken = ['up.id as p', ...keys, ...columns.map(name => `f.${name}`)]
  return `(select ${taken.join(', ')} from ${from} f join l${at} up on ${alike(at)})`
}

/** `on` of rows and what was kept of their level. */
export const alike = (at: number) => `up.p = f.p and up.k is not distinct from f.${keyName(at)}`
