/** Campaigns by name, and the control that narrows a page to one of them. */
import { useQuery } from '@tanstack/react-query'
import { listCampaigns } from '../../campaigns/api.ts'
import { ask } from '../call.ts'
import { SelectField } from '../ui/field.tsx'

const MOST = 200

const newest = ask(listCampaigns, { query: { limit: MOST } })

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

type ChoiceProps = { campaign: string | undefined; onChange: (campaign: string | undefined) => void }

export function CampaignChoice({ campaign, onChange }: ChoiceProps) {
  const known = useCampaigns()
  return (
    <SelectField
      label="Campaign"
      hideLabel
      toolbar
      className="w-full sm:w-52"
      value={campaign ?? ''}
      onChange={event => onChange(event.target.value === '' ? undefined : event.target.value)}
    >
      <option value="">All campaigns</option>
      {campaign !== undefined && known.every(one => one.id !== campaign) && (
        <option value={campaign}>{campaign}</option>
      )}
      {known.map(one => (
        <option key={one.id} value={one.id}>
          {one.name}
        </option>
      ))}
    </SelectField>
  )
}
