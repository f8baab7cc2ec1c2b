/**
 * Counts conversions of the goal and of single types, and sums what single types pay. The local copy holds the conversions of each click by type as
 * one text; few texts differ. The types of a campaign's goal are looked up with each question, because they may change at any time and hold for the
 * past. So a question reads each text once and joins the counts to the clicks. Amounts differ more, so they are a text of their own, which only a
 * question for revenue by type reads.
 */
import { type EventMeasure, isEventMeasure, isEventRevenue, typeOfMeasure } from '../../contract/explore-measures.ts'
import type { Goals } from '../../traffic/event-settings/goals.ts'
import { quoted } from './columns.ts'
import { PAIR_SIZE } from './pairs.ts'
import { NO_AMOUNTS } from './table.ts'

/** Each distinct goal with its campaigns. The first has no campaigns: it holds for all others. */
function goalsApart({ goal, own }: Goals) {
  const alike = Map.groupBy(own, one => one.goal.toSorted().join())
  return [
    { types: goal, campaigns: [] },
    ...[...alike.values()].map(all => ({ types: all[0]?.goal ?? goal, campaigns: all.map(({ id }) => id) })),
  ]
}

const ofTypes = (sum: string, types: readonly string[]) =>
  `coalesce(sum(${sum}) filter (where type in (${types.map(quoted).join(', ')})), 0)::bigint`

const isOfGoal = (column: string) => column === HELD || column === REFUSED
const [HELD, REFUSED] = ['conversions_conversions_pending', 'conversions_rejected'] as const

/** Counts clicks that earned something, but whose fact does not say by which type. */
const WITHOUT_AMOUNTS = 'without_amounts'

/** Whether a column of a scan is computed from conversions. */
export const isOfConversions = (column: string): boolean =>
  isOfGoal(column) || isEventMeasure(column) || column === WITHOUT_AMOUNTS

/** The joins to the rows of `from`, called `facts`, that the columns computed from conversions need; none where there are no such columns. */
export const conversionJoin = (goals: Goals, columns: readonly string[], from: string): string[] => [
  ...countsJoin(goals, columns, from),
  ...amountsJoin(columns.filter(isEventRevenue), from),
]

function amountsJoin(columns: readonly EventMeasure[], from: string): string[] {
  if (columns.length === 0) return []
  const sums = columns.map(name => `${ofTypes('millionths', [typeOfMeasure(name)])} as of_${name}`)
  return [
    `left join (
      select earned as earns, ${sums.join(', ')} from (
        select earned, split_part(paid, ':', 1) as type, try_cast(split_part(paid, ':', 2) as bigint) as millionths from (
          select earned, unnest(string_split(earned, ' ')) as paid from (
            select distinct earned from ${from} where earned is not null)))
      group by earned
    ) paying on paying.earns = facts.earned`,
  ]
}

function countsJoin(goals: Goals, columns: readonly string[], from: string): string[] {
  const ofGoal = goalsApart(goals).flatMap(({ types }, at) => [
    `${ofTypes(`approved + pending * ${PAIR_SIZE}`, types)} as held${at}`,
    `${ofTypes('rejected', types)} as refused${at}`,
  ])
  const ofOne = columns
    .filter(isEventMeasure)
    .filter(name => !isEventRevenue(name))
    .map(name => `${ofTypes('approved', [typeOfMeasure(name)])} as of_${name}`)
  const counted = [...(columns.some(isOfGoal) ? ofGoal : []), ...ofOne]
  if (counted.length === 0) return []
  const count = (place: number) => `split_part(split_part(standing, ':', 2), ',', ${place})::bigint`
  return [
    `left join (
      select conversions as stands, ${counted.join(', ')} from (
        select conversions, split_part(standing, ':', 1) as type, ${count(1)} as approved, ${count(2)} as pending, ${count(3)} as rejected from (
          select conversions, unnest(string_split(conversions, ' ')) as standing from (
            select distinct conversions from ${from} where conversions is not null)))
      group by conversions
    ) converted on converted.stands = facts.conversions`,
  ]
}

/** The SQL of a column computed from conversions, over rows with those joins. Approved and pending conversions of the goal share one column, like `PAIRS`. */
export function conversionColumn(goals: Goals, column: string): string {
  if (column === WITHOUT_AMOUNTS) return `case when earned = ${quoted(NO_AMOUNTS)} then sign else 0 end`
  if (isEventMeasure(column)) return `sign * coalesce(of_${column}, 0)`
  const name = column === HELD ? 'held' : 'refused'
  const [, ...own] = goalsApart(goals)
  const whens = own.map(
    ({ campaigns }, at) => `when list_contains([${campaigns.map(quoted).join(', ')}], campaign) then ${name}${at + 1}`,
  )
  return `sign * case when stands is null then 0 ${whens.join(' ')} else ${name}0 end`
}
