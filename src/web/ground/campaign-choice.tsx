/** Campaigns by name, and the control that filters a page by one of them. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { listCampaigns, nameCampaigns } from '../../traffic/campaigns/api.ts'
import { ask } from './call.ts'
import { Choice } from './ui/choice.tsx'

const MOST = 200

const newest = ask(listCampaigns, { query: { limit: MOST, status: 'all' } })

/** The newest campaigns. */
export function useCampaigns() {
  return useQuery(newest).data?.data ?? []
}

/** True until the list is loaded; then whether it has a campaign. */
export function useHasCampaigns(): boolean {
  return useQuery(newest).data?.data.length !== 0
}

/** Names of campaigns by id. Older and deleted campaigns in `ids` are requested separately; deleted ones are marked. */
export function useCampaignNames(
  ids: readonly (string | null | undefined)[] = [],
): (id: string | null) => string | undefined {
  const listed = useQuery(newest).data?.data
  const names = new Map(listed?.map(campaign => [campaign.id, campaign.name]))
  const unlisted = listed === undefined ? [] : [...new Set(ids)].filter(id => id != null && !names.has(id))
  const others = useQuery({
    ...ask(nameCampaigns, { query: { ids: unlisted.slice(0, MOST).join() } }),
    enabled: unlisted.length > 0,
    placeholderData: keepPreviousData,
  })
  for (const { id, name, is_deleted } of others.data?.data ?? []) names.set(id, is_deleted ? `${name} (deleted)` : name)
  return id => (id === null ? undefined : (names.get(id) ?? id))
}

type CampaignChoiceProps = { campaign: string | undefined; onChange: (campaign: string | undefined) => void }

export function CampaignChoice({ campaign, onChange }: CampaignChoiceProps) {
  const nameOf = useCampaignNames([campaign])
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
