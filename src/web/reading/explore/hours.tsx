/** The hours of the week as a map: a table of weekdays and hours with the chosen figure in each, shaded by how much it is. */
import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { SPEND_KEY } from '../../../contract/explore.ts'
import type { Measure } from '../../../contract/explore-measures.ts'
import type { ExploreDimension } from '../../../contract/explore-dimensions.ts'
import { ask } from '../../ground/call.ts'
import { compact, NONE } from '../../ground/figures/figures.ts'
import { type Days, daysIn } from '../../ground/figures/window.ts'
import { Choice } from '../../ground/ui/choice.tsx'
import { Loaded, Waiting } from '../../ground/ui/page.tsx'
import { zoneNow } from '../../ground/zone.ts'
import { explore } from '../../../reading/explore/api.ts'
import { type Column, columnsOf, type Figures, measureColumns, measuresOf } from './columns.ts'
import { keyInWords } from './dimensions.ts'
import { hoursOf, type Question } from './question.ts'
import { Preparing } from './preparing.tsx'
import { shadeOf } from './shades.ts'
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

/** Told in the title of each hour, beside what it is shaded by. */
const BESIDE: readonly Measure[] = ['clicks', 'conversions', 'revenue']

type HoursProps = { question: Question; shade: Measure; isRunning: boolean; days: Days }

/** Sums of visitors and ratios are not made of others, so weekdays and hours are asked for themselves. */
export function Hours({ question, shade, isRunning, days }: HoursProps) {
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
        const rows = new Map<string | null, Figures>(
          [answer, ...sides.map(({ data }) => data)].flatMap(one => one?.rows ?? []).map(row => [row.key, row]),
        )
        return (
          <>
            <Map7x24
              column={column}
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

type MapProps = {
  column: Column
  isEstimate: boolean
  at: (key: string) => Figures | undefined
  total: Figures
  most: number
}

function Map7x24({ column, isEstimate, at, total, most }: MapProps) {
  const shown = (row: Figures | undefined) => (row === undefined ? '' : short(column, row))
  const isLoss = (row: Figures | undefined) => ((row && column.number(row)) ?? 0) < 0
  const beside = columnsOf({ columns: BESIDE.join() }).filter(({ id }) => id !== column.id)
  const titled = (key: string, row: Figures | undefined) =>
    `${keyInWords('weekday_hour', key, key)}: ${[column, ...beside].map(one => `${one.title} ${isEstimate && one === column ? '≈ ' : ''}${row === undefined ? NONE : one.text(row)}`).join(', ')}`
  return (
    <WeekMap
      caption={`${column.title} by weekday and hour, ${zoneNow()}`}
      at={(day, hour) => {
        const key = `${day + 1}-${hour}`
        const row = at(key)
        return {
          shown: shown(row),
          title: titled(key, row),
          style: shadeOf(row && column.number(row), most),
          isLoss: isLoss(row),
        }
      }}
      ofDay={day => shown(at(String(day + 1)))}
      ofHour={hour => shown(at(hour))}
      all={short(column, total)}
    />
  )
}

/** Short enough for a cell; the whole of it stands in its title. */
function short(column: Column, row: Figures): string {
  const value = column.number(row)
  if (value === undefined) return NONE
  if (column.shape === 'percent') return `${(value * 100).toFixed(value !== 0 && Math.abs(value) < 0.1 ? 1 : 0)}%`
  return column.shape === 'unit' ? column.text(row) : compact(value).replace('-', '−')
}
