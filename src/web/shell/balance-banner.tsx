/** What every member is told on each page while the balance is low or empty. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { balanceNotice } from '../ground/charging.ts'
import { money } from '../ground/figures/figures.ts'
import { Note } from '../ground/ui/refusal.tsx'

/** Charges come by themselves, so the page asks again now and then. */
const AGAIN_MS = 60_000

export function BalanceBanner() {
  const { data } = useQuery({ ...balanceNotice, refetchInterval: AGAIN_MS })
  if (data === undefined || data.state === 'fine') return null
  const words =
    data.state === 'low'
      ? `It is ${money(data.balance)} dollars.`
      : data.hold_when_empty
        ? 'Nothing is refused or lost, but deliveries wait until a top-up brings it back.'
        : 'Nothing is refused or lost; conversions and deliveries go on.'
  return (
    <output className="mb-4 block">
      <Note kind="warning">
        <strong>{data.state === 'low' ? 'The balance is low.' : 'The balance is below zero.'}</strong> {words}{' '}
        <Link to="/billing" className="underline underline-offset-2 hover:text-ink">
          To billing
        </Link>
      </Note>
    </output>
  )
}
