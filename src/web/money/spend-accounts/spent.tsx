/** The spend of an account: by day, and the part that matches no campaign. */
import { useState } from 'react'
import { count, day, exactMoney, NONE } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import type { SpendAccountDetail } from './form-values.ts'

const NO_SPEND = 'No spend in the last 30 days.'

type UnmatchedProps = { unmatched: SpendAccountDetail['unmatched']; sum: SpendAccountDetail['last_30_days'] }

export function UnmatchedTable({ unmatched, sum }: UnmatchedProps) {
  if (unmatched.length === 0)
    return <p className="text-ink-soft">{sum.spent === '0' ? NO_SPEND : 'None: all spend is matched to campaigns.'}</p>
  const more = sum.unmatched_ids - unmatched.length
  return (
    <>
      <p className="mb-2">
        <strong className="font-semibold">${exactMoney(sum.unmatched)}</strong>
        <span className="text-ink-soft">
          {' '}
          of ${exactMoney(sum.spent)}, by {count(sum.unmatched_ids)} {sum.unmatched_ids === 1 ? 'id' : 'ids'}
        </span>
      </p>
      <Table caption="Unmatched spend">
        <thead>
          <tr>
            <Head stay>Id at the platform</Head>
            <Head>Name at the platform</Head>
            <Head numeric>Amount, $</Head>
            <Head>Days</Head>
          </tr>
        </thead>
        <tbody>
          {unmatched.map(({ external_id, name, amount, first_day, last_day }) => (
            <Row key={external_id}>
              <RowHead stay className="font-mono text-sm">
                {external_id}
              </RowHead>
              <Cell className="max-w-72 truncate" faint={name === ''} title={name}>
                {name === '' ? NONE : name}
              </Cell>
              <Cell numeric>{exactMoney(amount)}</Cell>
              <Cell>{first_day === last_day ? day(first_day) : `${day(first_day)} – ${day(last_day)}`}</Cell>
            </Row>
          ))}
        </tbody>
      </Table>
      {more > 0 && <p className="mt-2 text-ink-soft">And {count(more)} more that cost less.</p>}
    </>
  )
}

/** Days shown before "Show all": two weeks. */
const SHOWN_DAYS = 14

export function DaysTable({ days }: { days: SpendAccountDetail['days'] }) {
  const [isWhole, setWhole] = useState(false)
  if (days.length === 0) return <p className="text-ink-soft">{NO_SPEND}</p>
  return (
    <>
      <Table caption="Spend by day">
        <thead>
          <tr>
            <Head stay>Day</Head>
            <Head numeric>Spent, $</Head>
            <Head numeric>Unmatched, $</Head>
            <Head unseen>Remark</Head>
          </tr>
        </thead>
        <tbody>
          {(isWhole ? days : days.slice(0, SHOWN_DAYS)).map(({ day: on, spent, unmatched, is_estimated }) => (
            <Row key={on}>
              <RowHead stay>{day(on)}</RowHead>
              <Cell numeric>{exactMoney(spent)}</Cell>
              <Cell numeric faint={unmatched === '0'}>
                {unmatched === '0' ? NONE : exactMoney(unmatched)}
              </Cell>
              <Cell faint>{is_estimated && 'estimated'}</Cell>
            </Row>
          ))}
        </tbody>
      </Table>
      {!isWhole && days.length > SHOWN_DAYS && (
        <Button look="quiet" className="mt-2" onClick={() => setWhole(true)}>
          Show all {days.length} days
        </Button>
      )}
    </>
  )
}
