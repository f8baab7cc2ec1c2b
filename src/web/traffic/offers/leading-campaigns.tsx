/** Which campaigns lead to an offer: how many follow its address, those that keep one of their own, and how many come by a funnel or click flow. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { z } from 'zod'
import { listCampaigns } from '../../../traffic/campaigns/api.ts'
import type { Offer } from '../../../traffic/offers/api.ts'
import { ask } from '../../ground/call.ts'
import { FollowButton } from '../../ground/follow-offer.tsx'

type OfferRow = z.input<typeof Offer>

const campaigns = (count: number) => `${count} campaign${count === 1 ? '' : 's'}`

/** "2 campaigns follow its address, 1 keeps an address of its own, 3 reach it by a funnel." */
export function reachOf({ campaigns: of }: Pick<OfferRow, 'campaigns'>): string {
  const ways = [
    [of.following, of.following === 1 ? 'follows its address' : 'follow its address'],
    [of.own_address, of.own_address === 1 ? 'keeps an address of its own' : 'keep addresses of their own'],
    [of.by_funnel, of.by_funnel === 1 ? 'reaches it by a funnel' : 'reach it by a funnel'],
    [of.by_click_flow, of.by_click_flow === 1 ? 'reaches it by a click flow' : 'reach it by a click flow'],
  ] as const
  const [first, ...others] = ways.filter(([count]) => count > 0)
  if (first === undefined) return 'No campaign leads to it.'
  return `${[`${campaigns(first[0])} ${first[1]}`, ...others.map(([count, does]) => `${count} ${does}`)].join(', ')}.`
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
