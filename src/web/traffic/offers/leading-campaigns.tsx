/** The campaigns that lead to an offer: by its address, by their own address, by a funnel or by a click flow. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { z } from 'zod'
import { listCampaigns } from '../../../traffic/campaigns/api.ts'
import type { Offer } from '../../../traffic/offers/api.ts'
import { ask } from '../../ground/call.ts'
import { FollowButton } from '../../ground/follow-offer.tsx'

type OfferRow = z.input<typeof Offer>

const campaigns = (count: number) => `${count} campaign${count === 1 ? '' : 's'}`

/** "2 campaigns use its address, 1 uses its own address, 3 use a funnel." */
export function offerReach({ campaigns: of }: Pick<OfferRow, 'campaigns'>): string {
  const ways = [
    [of.following, of.following === 1 ? 'uses its address' : 'use its address'],
    [of.own_address, of.own_address === 1 ? 'uses its own address' : 'use their own address'],
    [of.by_funnel, of.by_funnel === 1 ? 'leads here by a funnel' : 'lead here by a funnel'],
    [of.by_click_flow, of.by_click_flow === 1 ? 'leads here by a click flow' : 'lead here by a click flow'],
  ] as const
  const [first, ...others] = ways.filter(([count]) => count > 0)
  if (first === undefined) return 'No campaign leads to it.'
  return `${[`${campaigns(first[0])} ${first[1]}`, ...others.map(([count, verb]) => `${count} ${verb}`)].join(', ')}.`
}

export function LeadingCampaigns({ offer }: { offer: OfferRow }) {
  const { own_address } = offer.campaigns
  const leading = useQuery({
    ...ask(listCampaigns, { query: { offer_id: offer.id, status: 'all', limit: 200 } }),
    enabled: own_address > 0,
  })
  const withOwnAddress = (leading.data?.data ?? []).flatMap(campaign =>
    campaign.destination.type === 'redirect' ? [{ campaign, url: campaign.destination.url }] : [],
  )
  return (
    <section aria-label="Campaigns" className="flex flex-col gap-2 border-t border-line pt-3">
      <p className="text-ink-soft">{offerReach(offer)}</p>
      {withOwnAddress.length > 0 && (
        <ul className="flex flex-col gap-2">
          {withOwnAddress.map(({ campaign, url }) => (
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
                  {url === offer.url ? 'A copy of the offer’s address' : url}
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
