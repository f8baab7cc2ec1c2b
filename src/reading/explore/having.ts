/**
 * Filters on figures. A filter applies to the whole figures of a row, so all rows of the last level are computed first. The rows that pass every
 * filter go into a table, and the question is then about their clicks alone. So rows, `other` and totals still add up.
 */
import type { Measure } from '../../contract/explore-measures.ts'
import { UNIQUE_VISITORS } from '../../contract/explore-measures.ts'
import type { ParsedLevel, ParsedQuestion } from './question.ts'
import type { Asking, LevelRows } from './rows.ts'
import { type AskedLevel, selectFacts, keyName } from './scan.ts'
import { haveCost, holds, madeIn, named, summed } from './sums.ts'
import { countVisitors, visitorsIn } from './visitors.ts'

/** The levels whose rows decide which clicks remain: all levels below the opened row, even those that are not in the answer. */
export const levelsOfRows = ({ levels, within = [] }: ParsedQuestion): AskedLevel[] =>
  levels.slice(within.length).map(({ dimension }, place) => ({ dimension, at: within.length + place }))

/** Tables of the rows of the last level with their sums: those that pass the filters, and all of them. */
const [LEFT, WHOLE] = ['rows_left', 'rows_whole'] as const

const sameKeys = (one: string, other: string, keys: readonly string[]) =>
  keys.map(key => `${one}.${key} is not distinct from ${other}.${key}`).join(' and ')

/** Finds the rows that pass every filter, for `clicksOfRows` and `rowsThen`. `asking` has the levels of `levelsOfRows`. */
export async function findRows(asking: Asking, every: number): Promise<LevelRows> {
  const { ask, question, sums, levels } = asking
  const keys = levels.map(({ at }) => keyName(at))
  await ask(`create temp table ${WHOLE} as ${summedBy(asking, asking.clicks(madeIn(sums)))}`)
  const filtered = levels.filter(({ at }) => havingOf(question, at).length > 0)
  const needsVisitors = filtered.some(({ at }) => havingOf(question, at).some(({ measure }) => isOfVisitors(measure)))
  const visitors = needsVisitors ? await visitorsIn({ ...asking, prefix: 'rows' }, every) : undefined
  const among = filtered.map(({ at }, place) => {
    const own = levels.filter(level => level.at <= at).map(level => keyName(level.at))
    const conditions = havingOf(question, at).map(one => `(${holds(one, question.count_pending)})`)
    const figures = `select ${own.join(', ')}, ${named(sums)} from (
      select ${own.join(', ')}, ${summed(madeIn(sums))} from ${WHOLE} group by all)`
    return `semi join (${withVisitors(figures, own, visitors && countVisitors(`{${own.map(key => `${key}: ${key}`).join(', ')}} as id`, visitors.seen, every))}
      where ${conditions.join(' and ')}) held${place} on ${sameKeys('w', `held${place}`, own)}`
  })
  await ask(
    `create temp table ${LEFT} as select w.p, ${keys.map(key => `w.${key}`).join(', ')}, ${madeIn(sums)
      .map(name => `w.${name}`)
      .join(', ')} from ${WHOLE} w ${among.join(' ')}`,
  )
  await ask(`drop table ${WHOLE}`)
  return { sql: LEFT, grouped_keys: levels.length }
}

const havingOf = (question: ParsedQuestion, at: number) => (question.levels[at] as ParsedLevel).having
const isOfVisitors = (measure: Measure) => measure === UNIQUE_VISITORS

/** Adds the visitors to the figures. If they are not counted they are null, which passes no filter. */
function withVisitors(figures: string, keys: readonly string[], counted: string | undefined): string {
  if (counted === undefined) return `select *, null as ${UNIQUE_VISITORS} from (${figures}) f`
  const on = keys.map(key => `v.id.${key} is not distinct from f.${key}`).join(' and ')
  return `select * from (select f.*, coalesce(v.visitors, 0) as ${UNIQUE_VISITORS} from (${figures}) f left join (${counted}) v on ${on})`
}

/** These clicks grouped by all keys. */
function summedBy({ sums, levels }: Asking, clicks: string): string {
  const columns = madeIn(sums)
  return `select p, ${levels.map(({ at }) => keyName(at)).join(', ')}, ${summed(columns)} from ${clicks} group by all
    having sum(sign) <> 0 ${haveCost(columns) ? 'or sum(cost) <> 0' : ''}`
}

/** The rows of the remaining clicks in another window. */
export async function rowsThen(asking: Asking): Promise<LevelRows> {
  const table = `${asking.prefix}${LEFT}`
  await asking.ask(`create temp table ${table} as ${summedBy(asking, asking.clicks(madeIn(asking.sums)))}`)
  return { sql: table, grouped_keys: asking.levels.length }
}

/**
 * SQL of the clicks of the remaining rows. Clicks match by the keys down to the last level with a filter, so a row keeps all its clicks of the period
 * before, also those whose keys on lower levels have no clicks now.
 */
export function clicksOfRows({
  facts,
  question,
  window,
  levels,
}: Pick<Asking, 'facts' | 'question' | 'window' | 'levels'>) {
  const last = levels.findLastIndex(({ at }) => havingOf(question, at).length > 0)
  const keys = levels.slice(0, last + 1).map(({ at }) => keyName(at))
  const among = keys.length === 0 ? '' : `semi join ${LEFT} on ${sameKeys('f', LEFT, keys)}`
  return (columns: readonly string[]): string =>
    `(select f.* from (${selectFacts(facts, question, window, { levels, columns })}) f ${among})`
}
