/**
 * The rows that a level of a question is computed from. It does not read all facts again, but the rows of the groups kept on the level above. They are
 * grouped by the remaining keys first, if that leaves far fewer rows.
 */
import type { Window } from '../../contract/window.ts'
import type { Ask } from './engine.ts'
import type { ParsedQuestion } from './question.ts'
import { type AskedLevel, type LocalFacts, keyName } from './scan.ts'
import { madeIn, named, type Sum, type Sums, summed, sumsIn } from './sums.ts'
import { isOfTag } from './tagged.ts'

/** A question in one of its windows. */
export type Asking = {
  readonly ask: Ask
  readonly facts: LocalFacts
  readonly question: ParsedQuestion
  readonly window: Window
  readonly sums: readonly Sum[]
  /** The prefix of the names of this window's temporary tables. */
  readonly prefix: string
  /** The levels of the answer. */
  readonly levels: readonly AskedLevel[]
  /** SQL of the question's clicks: `p`, a key for each level, and these columns. */
  readonly clicks: (columns: readonly string[]) => string
}

/** Rows of `p` (the parent row), the keys of a level and those below it, and the columns of sums. `grouped_keys`: by how many keys below `p` they are grouped; undefined: not at all. */
export type LevelRows = { readonly sql: string; readonly grouped_keys: number | undefined }

/** `rows`: the first level is computed from them; `all`: the levels below it are. */
export type FirstRows = { readonly rows: LevelRows; readonly all: LevelRows; readonly totals: Sums }

/** The most rows stored for the next level. More are read again instead. */
const MOST_KEPT = 2_000_000
/** Rows are grouped if that leaves at most one in this many. */
const SHORTENED = 8
/** Grouping for the first level alone must save more, because the levels below read all rows again. */
const MUCH_SHORTENED = 1000

/** The rows of the first level, and their totals. */
export async function rowsOfFirstLevel(asking: Asking): Promise<FirstRows> {
  const { sums, levels } = asking
  const all: LevelRows = { sql: asking.clicks(madeIn(sums)), grouped_keys: undefined }
  const clicks = await countOf(asking)
  const short = await shortened(asking, all, levels, { parents: 1, clicks, least: SHORTENED })
  const first =
    short ?? (await shortened(asking, all, levels.slice(0, 1), { parents: 1, clicks, least: MUCH_SHORTENED }))
  const rows = first ?? all
  return { rows, all: short ?? all, totals: await totalsOf(asking, rows) }
}

/** The sums of these rows. */
export async function totalsOf({ ask, sums }: Pick<Asking, 'ask' | 'sums'>, { sql }: LevelRows): Promise<Sums> {
  const [row] = await ask(`select ${named(sums)} from (select ${summed(madeIn(sums))} from ${sql})`)
  return sumsIn(row, sums)
}

/** The number of all facts. */
async function countOf({ ask, facts }: Asking): Promise<number> {
  const [row] = await ask(`select count(*) as n from ${facts.from}`)
  return Number(row?.['n'] ?? 0)
}

/** The rows grouped by the keys of these levels; undefined if that would not leave far fewer. */
async function shortened(
  { ask, facts, sums, prefix }: Asking,
  { sql }: LevelRows,
  levels: readonly AskedLevel[],
  { parents, clicks, least }: { parents: number; clicks: number; least: number },
): Promise<LevelRows | undefined> {
  const groups = levels.reduce((product, { dimension }) => product * facts.valuesOf(dimension), parents)
  if (groups * least > clicks) return undefined
  const table = `${prefix}short${levels[0]?.at}of${levels.length}`
  const keys = levels.map(({ at }) => keyName(at)).join(', ')
  await ask(`create temp table ${table} as select p, ${keys}, ${summed(madeIn(sums))} from ${sql} group by all`)
  return { sql: table, grouped_keys: levels.length }
}

/** The rows that the level below `at` is computed from: those of the groups that were kept at `at`. */
export async function rowsBelow(
  asking: Asking,
  rows: LevelRows,
  at: number,
  kept: readonly Sums[],
): Promise<LevelRows> {
  const { ask, sums, prefix, levels } = asking
  const clicks = Number(kept.reduce((sum, { clicks }) => sum + clicks, 0n))
  const grouped_keys = rows.grouped_keys === undefined ? undefined : rows.grouped_keys - 1
  const next: LevelRows = { sql: joinedTo(asking, at, rows.sql, madeIn(sums)), grouped_keys }
  if (grouped_keys !== undefined) return next
  const left = levels.filter(level => level.at > at)
  const short = await shortened(asking, next, left, { parents: kept.length, clicks, least: SHORTENED })
  if (short !== undefined) return short
  if (clicks > MOST_KEPT) return next
  await ask(`create temp table ${prefix}kept${at} as from ${next.sql}`)
  return { sql: `${prefix}kept${at}`, grouped_keys: undefined }
}

/** Rows of the level `at` as rows of the next: those of its kept groups, with the group's number as `p`. */
export function joinedTo(
  { levels }: Pick<Asking, 'levels'>,
  at: number,
  from: string,
  columns: readonly string[],
): string {
  const keys = levels.filter(level => level.at > at).map(level => `f.${keyName(level.at)}`)
  const taken = ['up.id as p', ...keys, ...columns.map(name => `f.${name}`)]
  return `(select ${taken.join(', ')} from ${from} f join l${at} up on ${isInGroup(levels, at)})`
}

/** The `on` of rows `f` and the kept groups `up` of the level `at`. */
export function isInGroup(levels: readonly AskedLevel[], at: number): string {
  const key = `f.${keyName(at)}`
  const isOfKey = isOfTags(levels, at) ? isOfTag(key) : `up.k is not distinct from ${key}`
  return `up.p = f.p and ${isOfKey}`
}

/** Whether rows of the level may be in several groups. */
export const isOfTags = (levels: readonly AskedLevel[], at: number): boolean =>
  levels.some(level => level.at === at && level.dimension === 'tag')
