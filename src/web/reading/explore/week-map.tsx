/** The hours of the week as a table: weekdays down, hours across, and what days, hours and all of it come to at the edges. */
import { clsx } from 'clsx'
import type { CSSProperties, ReactNode } from 'react'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'))

type HourOfWeek = {
  shown: ReactNode
  title: string
  style: CSSProperties | undefined
  faint?: boolean
  isLoss?: boolean
}

type WeekMapProps = {
  caption: string
  /** `day` is 0 on Monday, `hour` 00 to 23. */
  at: (day: number, hour: string) => HourOfWeek
  ofDay: (day: number) => ReactNode
  ofHour: (hour: string) => ReactNode
  all: ReactNode
}

export function WeekMap({ caption, at, ofDay, ofHour, all }: WeekMapProps) {
  return (
    <Table
      caption={caption}
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
              const { shown, isLoss = false, ...rest } = at(day, hour)
              return (
                <Cell key={hour} numeric className={clsx(isLoss && 'bg-bad-soft!')} {...rest}>
                  {shown}
                </Cell>
              )
            })}
            <Cell numeric className="border-l border-line font-medium">
              {ofDay(day)}
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
              {ofHour(hour)}
            </Cell>
          ))}
          <Cell numeric className="border-l border-line">
            {all}
          </Cell>
        </tr>
      </tfoot>
    </Table>
  )
}
