/** Makes a campaign with its own redirect URL lead to its offer instead. */
import { useMutation } from '@tanstack/react-query'
import type { z } from 'zod'
import { type Campaign, listCampaigns, readCampaign, updateCampaign } from '../../traffic/campaigns/api.ts'
import { listOffers, readOffer } from '../../traffic/offers/api.ts'
import { reasonAgainst, useActive } from './active.ts'
import { call } from './call.ts'
import { Button } from './ui/button.tsx'
import { useRefresh } from './ui/refresh.ts'
import { RefusalNote } from './ui/refusal.tsx'
import { notify } from './ui/toast.tsx'

type CampaignRow = z.input<typeof Campaign>

/** `before`: why the button is disabled. */
export type FollowProps = {
  campaign: CampaignRow
  before?: string | undefined
  onFollowing?: (campaign: CampaignRow) => void
}

export function FollowButton({ campaign: { id, name, offer_id }, before, onFollowing }: FollowProps) {
  const refresh = useRefresh()
  const { role } = useActive()
  const follow = useMutation({
    mutationFn: () =>
      call(updateCampaign, {
        params: { id },
        body: { destination: { type: 'offer', offer_id: offer_id ?? '' } },
      }),
    onSuccess: async saved => {
      await refresh(listCampaigns, readCampaign, listOffers, readOffer)
      onFollowing?.(saved)
      notify(`${name} follows the offer`, 'Applies from the next click.')
    },
  })
  return (
    <>
      <Button
        size="sm"
        aria-label={`Follow the offer: ${name}`}
        pending={follow.isPending}
        reason={reasonAgainst(updateCampaign, role) ?? before}
        onClick={() => follow.mutate()}
      >
        Follow the offer
      </Button>
      <RefusalNote refused={follow.error} />
    </>
  )
}
