/** A note above the form of a campaign that has an offer but redirects to another address than the offer's. */
import { useQuery } from '@tanstack/react-query'
import { readOffer } from '../../../traffic/offers/api.ts'
import { ask } from '../../ground/call.ts'
import { FollowButton, type FollowProps } from '../../ground/follow-offer.tsx'

export function OwnAddressNote({ campaign, before, onFollowing }: FollowProps) {
  const { destination, offer_id } = campaign
  const offer = useQuery({
    ...ask(readOffer, { params: { id: offer_id ?? '' } }),
    enabled: offer_id !== null && destination.type === 'redirect',
  }).data
  if (offer === undefined || destination.type !== 'redirect' || destination.url === offer.url) return null
  return (
    <section
      aria-label="Own address"
      className="mb-4 flex flex-col items-start gap-2 rounded-md border-l-3 border-l-warn bg-warn-soft px-3 py-2"
    >
      <p>
        This campaign redirects to its own address. {offer.name} leads to{' '}
        <span className="font-mono text-sm break-all">{offer.url}</span>
      </p>
      <FollowButton campaign={campaign} before={before} {...(onFollowing === undefined ? {} : { onFollowing })} />
    </section>
  )
}
