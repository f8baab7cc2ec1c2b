/** The origin that visitors use: that of a campaign link, or else of this page. */
import { useCampaigns } from './campaign-choice.tsx'

export function useTracker(): string {
  const [campaign] = useCampaigns()
  const [tracker = ''] = campaign?.url.split(/\/c\/[^/]*$/) ?? []
  return tracker === '' ? location.origin : tracker
}
