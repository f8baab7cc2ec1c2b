/** Campaigns by name, and the control that narrows a page to one of them. */
import { useQuery } from '@tanstack/react-query'
import { listCampaigns } from '../../traffic/campaigns/api.ts'
import { ask } from './call.ts'
import { Choice } from './ui/choice.tsx'

const MOST = 200

const newest = ask(listCampaigns, { query: { limit: MOST, status: 'all' } })

/** The newest campaigns; older ones are shown by their id where a name is missing. */
export function useCampaigns() {
  return useQuery(newest).data?.data ?? []
}

/** False only once it is known that there is none. */
export function useHasCampaigns(): boolean {
  return useQuery(newest).data?.data.length !== 0
}

export function useCampaignNames(): (id: string | null) => string | undefined {
  const names = new Map(useCampaigns().map(campaign => [campaign.id, campaign.name]))
  return id => (id === null ? undefined : (names.get(id) ?? id))
}

type CampaignChoiceProps = { campaign: string | undefined; onChange: (campaign: string | undefined) => void }

export function CampaignChoice({ campaign, onChange }: CampaignChoiceProps) {
  const nameOf = useCampaignNames()
  const known = useCampaigns().map(({ id }) => id)
  return (
    <Choice
      label="Campaign"
      any="All campaigns"
      options={campaign === undefined || known.includes(campaign) ? known : [campaign, ...known]}
      words={id => nameOf(id) ?? id}
      value={campaign}
      onChange={onChange}
      className="w-44 sm:w-52"
    />
  )
}
