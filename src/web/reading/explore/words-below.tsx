/** What is to be known of an answer: days that are missing, what is estimated, what it is compared with. */
import { count, day, exactMoment, moneyOrNone } from '../../ground/figures/figures.ts'
import { Note } from '../../ground/ui/refusal.tsx'
import { type Column, mixedOf, needsCost } from './columns.ts'
import type { Answer } from './question.ts'

const SPOKEN = new Intl.ListFormat('en')
const MOST_NAMED = 5

type WordsBelowProps = {
  answer: Answer
  columns: readonly Column[]
  isRunning: boolean
  /** What the first level is called, where that is to be counted. */
  words?: string
}

export function WordsBelow({ answer, columns, isRunning, words }: WordsBelowProps) {
  const { incomplete_days, emptied_before, window_before, unique_visitors_is_estimate, distinct, counted_at, took_ms } =
    answer
  const shows = (id: string) => columns.some(column => column.id === id)
  const [keys] = distinct
  const mixed = mixedOf(answer)
  const said = [
    ...(keys === undefined || words === undefined ? [] : [`${words}: ${count(keys)} in all.`]),
    ...(window_before === undefined
      ? []
      : [
          `Compared with ${exactMoment(window_before.from)} to ${exactMoment(window_before.to)}.${isRunning ? ' The last day is still running, the period before is whole.' : ''}`,
        ]),
    ...(unique_visitors_is_estimate && shows('unique_visitors')
      ? ['≈: so many unique visitors are told by a sample of them, to one or two in a hundred.']
      : []),
    ...(emptied_before === null
      ? []
      : [
          `The clicks of before ${day(emptied_before)} (UTC) are no longer kept: they count, but who came, ref_id and subs with a value for nearly every click are gone.`,
        ]),
    ...(columns.some(needsCost)
      ? ['Cost is what the clicks themselves cost; spend that is booked by day stands in the overview.']
      : []),
    ...(mixed === undefined || !columns.some(needsCost) ? [] : [wordsOfMixed(mixed)]),
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
            {`Clicks of ${named(incomplete_days)} (UTC) are still being counted into this page. The overview has all of them.`}
          </Note>
        </div>
      )}
      <p className="mt-2 text-sm text-ink-faint">{said.join(' ')}</p>
    </>
  )
}

const wordsOfMixed = (revenue: number): string =>
  `Where no click says its cost there is none, and no profit (—); ${revenue === 0 ? 'such rows' : `revenue of ${moneyOrNone(revenue.toFixed(2))} of such rows`} count in the total all the same.`

function named(days: readonly string[]): string {
  const more = days.length - MOST_NAMED
  return SPOKEN.format([...days.slice(0, MOST_NAMED).map(day), ...(more > 0 ? [`${more} more`] : [])])
}
