/** Warns if one click earned an offer's payout twice, which the network may pay only once; or notes that no conversion earned it. */
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { DAY_MS } from '../../../contract/days.ts'
import { type Offer, readRepeatedPayouts } from '../../../traffic/offers/api.ts'
import { ask } from '../../ground/call.ts'
import { count, day } from '../../ground/figures/figures.ts'
import { useNow } from '../../ground/figures/now.ts'
import { inWords } from '../../ground/rungs.ts'
import { Note } from '../../ground/ui/refusal.tsx'

/** Combinations beyond these are rare. */
const MOST_NAMED = 4
const NEARLY_30_DAYS_MS = 29.9 * DAY_MS

type OfferRow = Pick<z.input<typeof Offer>, 'id' | 'payout_types'>

export function RepeatedPayouts({ offer }: { offer: OfferRow }) {
  const now = useNow()
  const { data } = useQuery(ask(readRepeatedPayouts, { params: { id: offer.id } }))
  if (data === undefined) return null
  const { clicks, from, together, unearned } = data
  const named = together
    .slice(0, MOST_NAMED)
    .map(({ types, clicks: on }) => `${types.map(inWords).join(' + ')}: ${count(on)}`)
  const when = now - Date.parse(from) > NEARLY_30_DAYS_MS ? 'In the last 30 days' : `Since ${day(from)}`
  if (unearned.length > 0) return <Unearned offer={offer} when={when} unearned={unearned} />
  if (clicks === 0) return null
  return (
    <Note kind="warning">
      <strong>
        {`${when} ${count(clicks)} ${clicks === 1 ? 'click' : 'clicks'} earned the payout more than once.`}
      </strong>{' '}
      {`${named.join(', ')}${together.length > named.length ? ' and others' : ''}. `}
      If the network pays once, choose one conversion. Recorded conversions do not change.
    </Note>
  )
}

type UnearnedProps = {
  offer: OfferRow
  when: string
  unearned: z.input<(typeof readRepeatedPayouts)['reply']>['unearned']
}

/** Conversions that earned nothing: their type does not earn the payout, or their own payout was 0. Often it is only early, so this is no warning. */
function Unearned({ offer: { payout_types: earning }, when, unearned }: UnearnedProps) {
  const withZeroPayout = unearned.filter(({ type }) => earning.length === 0 || earning.includes(type))
  const named = unearned.slice(0, MOST_NAMED).map(({ type, conversions }) => `${inWords(type)}: ${count(conversions)}`)
  return (
    <Note>
      <strong>{`${when} no conversion earned the payout.`}</strong>{' '}
      {`${named.join(', ')}${unearned.length > named.length ? ' and others' : ''}. `}
      {withZeroPayout.length === 0
        ? `The offer pays on ${earning.map(inWords).join(', ')}: choose what the network pays for. It applies to new conversions.`
        : `${withZeroPayout.map(({ type }) => inWords(type)).join(', ')} came with a payout of 0, as a network’s “Not paid yet” does.`}
    </Note>
  )
}
