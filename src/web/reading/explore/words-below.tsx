/** Notes on an answer: missing days, estimates, the period compared with, and what filters on figures leave out. */
import { DAY_MS } from '../../../contract/days.ts'
import { count, day, exactMoment, moneyOrNone } from '../../ground/figures/figures.ts'
import { Note } from '../../ground/ui/refusal.tsx'
import { type Column, needsCost, partOf } from './columns.ts'
import type { Answer } from './question.ts'

const SPOKEN = new Intl.ListFormat('en')
const MOST_NAMED = 5

type WordsBelowProps = {
  answer: Answer
  columns: readonly Column[]
  isRunning: boolean
  /** The name of the first level, whose keys are counted. */
  words?: string
  note?: string | undefined
}

export function WordsBelow({ answer, columns, isRunning, words, note }: WordsBelowProps) {
  const { incomplete_days, emptied_before, window_before, unique_visitors_is_estimate, distinct, counted_at, took_ms } =
    answer
  const { clicks: all } = answer.totals_without_having ?? {}
  const shows = (id: string) => columns.some(column => column.id === id)
  const [keys] = distinct
  const isOfCost = columns.some(needsCost)
  const part = isOfCost ? partOf(answer.totals) : undefined
  const said = [
    ...(note === undefined ? [] : [note]),
    ...(keys === undefined || words === undefined ? [] : [`${words}: ${count(keys)} in all.`]),
    ...(all === undefined ? [] : [`Figure filters leave ${count(answer.totals.clicks ?? 0)} of ${count(all)} clicks.`]),
    ...(window_before === undefined
      ? []
      : [
          `Compared with ${exactMoment(window_before.from)} to ${exactMoment(window_before.to)}.${isRunning ? ' The last day is not over; the previous period is complete.' : ''}`,
        ]),
    ...(unique_visitors_is_estimate && shows('unique_visitors')
      ? ['≈: unique visitors are estimated, to within one or two per cent.']
      : []),
    ...(emptied_before === null
      ? []
      : [
          `Clicks before ${day(emptied_before)} (UTC) are no longer stored. They still count, but without unique visitors, ref_id and subs that were different in nearly every click.`,
        ]),
    ...(part === undefined ? [] : [wordsOfPart(part)]),
    ...(isOfCost && cutsDay(answer.window) ? [CUT_DAY] : []),
    `Counted at ${exactMoment(counted_at)} in ${count(took_ms)} ms.`,
  ]
  return (
    <>
      {incomplete_days.length > 0 && (
        <div className="mt-3">
          <Note kind="warning">
            <strong>
              {incomplete_days.length === 1
                ? 'One day is incomplete.'
                : `${count(incomplete_days.length)} days are incomplete.`}
            </strong>{' '}
            {`Some clicks of ${named(incomplete_days)} (UTC) are still being loaded. Overview has all of them.`}
          </Note>
        </div>
      )}
      <p className="mt-2 text-sm text-ink-faint">{said.join(' ')}</p>
    </>
  )
}

const wordsOfPart = ({ clicks, revenue }: { clicks: number; revenue: string }): string =>
  `* The cost of ${count(clicks)} clicks is not known. They earned ${moneyOrNone(revenue)}, which profit and ROI of the total include.`

const cutsDay = ({ from, to }: Answer['window']): boolean =>
  Date.parse(from) % DAY_MS !== 0 || (Date.parse(to) + 1) % DAY_MS !== 0
const CUT_DAY =
  'Spend is booked by UTC day. If these days contain only part of a UTC day, their clicks count with their share of its spend.'

function named(days: readonly string[]): string {
  const more = days.length - MOST_NAMED
  return SPOKEN.format([...days.slice(0, MOST_NAMED).map(day), ...(more > 0 ? [`${more} more`] : [])])
}
