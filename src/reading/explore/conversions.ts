/**
 * Conversions of the goal and of single types, and what those of single types pay, as a question counts them. The local copy has of each click how its conversions stand by type, as a text of which there are
 * few; which types are a campaign's goal is looked up when it is asked, because that may change at any time and holds for the past. So each text is
 * read once in a question, and what it comes to is joined to its clicks. Amounts differ more, so they are a text of their own, which only a question
 * for money by type reads.
 */
import { type EventMeasure, isEventMeasure, isEventRevenue, typeOfMeasure } from '../../contract/explore-measures.ts'
import type { Goals } from '../../traffic/event-settings/goals.ts'
import { quoted } from './columns.ts'
import { PAIR_SIZE } from './pairs.ts'
import { NO_AMOUNTS } from './table.ts'

/** Each goal once, with its campaigns; the first is that of all others. */
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

/** How many clicks earned something and do not say by which type. */
const WITHOUT_AMOUNTS = 'without_amounts'

/** Whether a column of a scan is made of conversions. */
export const isOfConversions = (column: string): boolean =>
  isOfGoal(column) || isEventMeasure(column) || column === WITHOUT_AMOUNTS

/** What is joined to the rows of `from`, called `facts`, for those of these columns that are made of conversions; nothing for none. */
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

/** A column that is made of conversions, of rows with that join; approved ones of the goal and those on hold in one, as `PAIRS` are. */
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
