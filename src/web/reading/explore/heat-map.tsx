/** The heat map: the chosen figure for each hour of the week, shaded by its size. */
import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { SPEND_KEY } from '../../../contract/explore.ts'
import type { Measure } from '../../../contract/explore-measures.ts'
import type { ExploreDimension } from '../../../contract/explore-dimensions.ts'
import { ask } from '../../ground/call.ts'
import { type Days, daysIn } from '../../ground/figures/window.ts'
import { Choice } from '../../ground/ui/choice.tsx'
import { Loaded, Waiting } from '../../ground/ui/page.tsx'
import { zoneNow } from '../../ground/zone.ts'
import { explore } from '../../../reading/explore/api.ts'
import { columnsOf, type RowFigures, measureColumns, measuresOf } from './columns.ts'
import { hoursOf, type Question } from './question.ts'
import { Preparing } from './preparing.tsx'
import { WeekMap } from './week-map.tsx'
import { WordsBelow } from './words-below.tsx'

const PARTS = ['weekday_hour', 'weekday', 'hour'] as const satisfies readonly ExploreDimension[]

type ShadeChoiceProps = { shade: Measure | undefined; onChange: (shade: Measure | undefined) => void }

export function ShadeChoice({ shade, onChange }: ShadeChoiceProps) {
  const columns = measureColumns()
  return (
    <Choice
      label="Shaded by"
      any="Clicks"
      options={columns.flatMap(({ id }) => (id === 'clicks' ? [] : [id as Measure]))}
      words={id => columns.find(column => column.id === id)?.title ?? id}
      value={shade === 'clicks' ? undefined : shade}
      onChange={onChange}
    />
  )
}

/** Also named in the title of each hour. */
const BESIDE: readonly Measure[] = ['clicks', 'conversions', 'revenue']

type HeatMapProps = { question: Question; shade: Measure; isRunning: boolean; days: Days }

/** Visitors and ratios of weekdays and hours are not sums of those of single hours, so each of the three is asked for. */
export function HeatMap({ question, shade, isRunning, days }: HeatMapProps) {
  const measures = [...measuresOf({ columns: [shade, ...BESIDE].join() })]
  const [hours, ...sides] = useQueries({
    queries: PARTS.map(part => ({
      ...ask(explore, { body: { ...hoursOf(question, part), measures } }),
      placeholderData: keepPreviousData,
    })),
  })
  const column = measureColumns().find(({ id }) => id === shade)
  if (hours === undefined || column === undefined) return null
  return (
    <Loaded
      query={hours}
      waiting={
        <>
          <Waiting className="h-80" />
          <Preparing />
        </>
      }
    >
      {answer => {
        const rows = new Map<string | null, RowFigures>(
          [answer, ...sides.map(({ data }) => data)].flatMap(one => one?.rows ?? []).map(row => [row.key, row]),
        )
        return (
          <>
            <WeekMap
              column={column}
              beside={columnsOf({ columns: BESIDE.join() })}
              isEstimate={shade === 'unique_visitors' && answer.unique_visitors_is_estimate}
              at={key => rows.get(key)}
              total={answer.totals}
              most={Math.max(0, ...answer.rows.map(row => (row.key === SPEND_KEY ? 0 : (column.number(row) ?? 0))))}
            />
            <p className="mt-2 text-sm text-ink-faint">
              {`Hours are those of ${zoneNow()}; the deeper the shade, the higher the figure.`}
              {daysIn(days) % 7 !== 0 && ' These days are not whole weeks: some weekdays occur more often than others.'}
            </p>
            <WordsBelow answer={answer} columns={[column]} isRunning={isRunning} />
          </>
        )
      }}
    </Loaded>
  )
}
