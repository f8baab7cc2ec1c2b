/** Says where an offer's payout was earned twice by one click, which the network may have paid for once. */
import { useQuery } from '@tanstack/react-query'
import { readRepeatedPayouts } from '../../../traffic/offers/api.ts'
import { ask } from '../../ground/call.ts'
import { count, day } from '../../ground/figures/figures.ts'
import { useNow } from '../../ground/figures/now.ts'
import { inWords } from '../../ground/rungs.ts'
import { Note } from '../../ground/ui/refusal.tsx'

/** More would be a list of rarities. */
const MOST_NAMED = 4
const NEARLY_30_DAYS_MS = 29.9 * 86_400_000

export function RepeatedPayouts({ offer_id }: { offer_id: string }) {
  const now = useNow()
  const { data } = useQuery(ask(readRepeatedPayouts, { params: { id: offer_id } }))
  if (data === undefined || data.clicks === 0) return null
  const { clicks, from, together } = data
  const named = together
    .slice(0, MOST_NAMED)
    .map(({ types, clicks: on }) => `${types.map(inWords).join(' + ')}: ${count(on)}`)
  const when = now - Date.parse(from) > NEARLY_30_DAYS_MS ? 'In the last 30 days' : `Since ${day(from)}`
  return (
    <Note kind="warning">
      <strong>
        {`${when} it was earned more than once on ${count(clicks)} ${clicks === 1 ? 'click' : 'clicks'}.`}
      </strong>{' '}
      {`${named.join(', ')}${together.length > named.length ? ' and others' : ''}. `}
      Where the network pays once, choose one conversion; what is recorded stays.
    </Note>
  )
}
