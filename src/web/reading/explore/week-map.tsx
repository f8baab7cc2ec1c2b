/** The table of the heat map: weekdays down, hours across, and the figures of days, hours and the whole window at the edges. */
import { clsx } from 'clsx'
import { compact, NONE } from '../../ground/figures/figures.ts'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { zoneNow } from '../../ground/zone.ts'
import type { Column, RowFigures } from './columns.ts'
import { keyInWords, WEEKDAYS } from './dimensions.ts'
import { shadeOf } from './shades.ts'

const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'))

type WeekMapProps = {
  column: Column
  /** Further columns for the title of each hour. */
  beside: readonly Column[]
  isEstimate: boolean
  /** The figures of a weekday, an hour, or an hour of the week, by its key. */
  at: (key: string) => RowFigures | undefined
  total: RowFigures
  /** The highest figure of an hour of the week. */
  most: number
}

export function WeekMap({ column, beside, isEstimate, at, total, most }: WeekMapProps) {
  const shown = (row: RowFigures | undefined) => (row === undefined ? '' : short(column, row))
  const named = [column, ...beside.filter(({ id }) => id !== column.id)]
  const titled = (key: string, row: RowFigures | undefined) =>
    `${keyInWords('weekday_hour', key, key)}: ${named.map(one => `${one.title} ${isEstimate && one === column ? '≈ ' : ''}${row === undefined ? NONE : one.text(row)}`).join(', ')}`
  return (
    <Table
      caption={`${column.title} by weekday and hour, ${zoneNow()}`}
      className="[&_td]:px-0.5! [&_td]:text-sm [&_th]:px-0.5! [&_th:first-child]:pr-2! [&_th:first-child]:pl-3.5! [&_tr>*:last-child]:pr-3!"
    >
      <thead>
        <tr>
          <Head stay>Day</Head>
          {HOURS.map(hour => (
            <Head key={hour} numeric abbr={`${hour}:00`}>
              {hour}
            </Head>
          ))}
          <Head numeric className="border-l">
            All
          </Head>
        </tr>
      </thead>
      <tbody>
        {WEEKDAYS.map((weekday, day) => (
          <Row key={weekday}>
            <RowHead stay>
              <abbr title={weekday} className="no-underline">
                {weekday.slice(0, 3)}
              </abbr>
            </RowHead>
            {HOURS.map(hour => {
              const key = `${day + 1}-${hour}`
              const row = at(key)
              const value = row && column.number(row)
              return (
                <Cell
                  key={hour}
                  numeric
                  title={titled(key, row)}
                  style={shadeOf(value, most)}
                  className={clsx((value ?? 0) < 0 && 'bg-bad-soft!')}
                >
                  {shown(row)}
                </Cell>
              )
            })}
            <Cell numeric className="border-l border-line font-medium">
              {shown(at(String(day + 1)))}
            </Cell>
          </Row>
        ))}
      </tbody>
      <tfoot>
        <tr className="font-semibold [&>*]:border-t [&>*]:border-line-strong/50 [&>*]:bg-sunken">
          <RowHead stay className="bg-sunken! font-semibold!">
            All
          </RowHead>
          {HOURS.map(hour => (
            <Cell key={hour} numeric>
              {shown(at(hour))}
            </Cell>
          ))}
          <Cell numeric className="border-l border-line">
            {short(column, total)}
          </Cell>
        </tr>
      </tfoot>
    </Table>
  )
}

/** Short enough for a cell; the title has the whole figure. */
function short(column: Column, row: RowFigures): string {
  const value = column.number(row)
  if (value === undefined) return NONE
  if (column.shape === 'percent') return `${(value * 100).toFixed(value !== 0 && Math.abs(value) < 0.1 ? 1 : 0)}%`
  return column.shape === 'unit' ? column.text(row) : compact(value).replace('-', '−')
}
