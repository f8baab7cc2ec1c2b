/** Where visitors reach Sluice: as the server says in the address of a campaign, else where this browser does. */
import { useCampaigns } from './campaign-choice.tsx'

export function useTracker(): string {
  const [campaign] = useCampaigns()
  const [tracker = ''] = campaign?.url.split(/\/c\/[^/]*$/) ?? []
  return tracker === '' ? location.origin : tracker
}
