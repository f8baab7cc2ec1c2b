/** Which campaigns lead to an offer: how many follow its address, and those that keep one of their own. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { z } from 'zod'
import { listCampaigns } from '../../../traffic/campaigns/api.ts'
import type { Offer } from '../../../traffic/offers/api.ts'
import { ask } from '../../ground/call.ts'
import { FollowButton } from '../../ground/follow-offer.tsx'

type OfferRow = z.input<typeof Offer>

const campaigns = (count: number) => `${count} campaign${count === 1 ? '' : 's'}`

/** "2 campaigns follow it, 1 keeps an address of its own." */
export function reachOf({ campaigns: { following, own_address } }: Pick<OfferRow, 'campaigns'>): string {
  if (following === 0 && own_address === 0) return 'No campaign leads to it directly.'
  const follow = `${campaigns(following)} ${following === 1 ? 'follows' : 'follow'} its address`
  const keep = own_address === 1 ? '1 keeps an address of its own' : `${own_address} keep addresses of their own`
  return own_address === 0 ? `${follow}.` : `${follow}, ${keep}.`
}

export function LeadingCampaigns({ offer }: { offer: OfferRow }) {
  const { own_address } = offer.campaigns
  const named = useQuery({
    ...ask(listCampaigns, { query: { offer_id: offer.id, status: 'all', limit: 200 } }),
    enabled: own_address > 0,
  })
  const keeping = (named.data?.data ?? []).flatMap(campaign =>
    campaign.destination.type === 'redirect' ? [{ campaign, url: campaign.destination.url }] : [],
  )
  return (
    <section aria-label="Campaigns" className="flex flex-col gap-2 border-t border-line pt-3">
      <p className="text-ink-soft">{reachOf(offer)}</p>
      {keeping.length > 0 && (
        <ul className="flex flex-col gap-2">
          {keeping.map(({ campaign, url }) => (
            <li key={campaign.id} className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <div className="min-w-0 flex-1 basis-60">
                <Link
                  to="/campaigns/$id"
                  params={{ id: campaign.id }}
                  className="font-medium underline-offset-2 hover:underline"
                >
                  {campaign.name}
                </Link>
                <p className="truncate font-mono text-sm text-ink-faint" title={url}>
                  {url === offer.url ? 'The same address, copied' : url}
                </p>
              </div>
              <FollowButton campaign={campaign} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
