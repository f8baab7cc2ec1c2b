/** The name of a row's campaign, which may be deleted. */
import type { z } from 'zod'
import type { NamedCampaigns } from '../../traffic/campaigns/api.ts'
import { NONE } from './figures/figures.ts'
import { Cell } from './ui/table.tsx'

export type CampaignNames = z.input<typeof NamedCampaigns>

/** The table cell with the row's campaign. A deleted campaign is marked. */
export function CampaignCell({ campaigns, id }: { campaigns: CampaignNames; id: string | null }) {
  const campaign = campaigns.find(one => one.id === id)
  if (campaign === undefined) return <Cell faint>{id ?? NONE}</Cell>
  const { name, is_deleted } = campaign
  return (
    <Cell className="max-w-52" title={is_deleted ? `${name} (deleted)` : name}>
      <span className="flex gap-1">
        <span className="truncate">{name}</span>
        {is_deleted && <span className="shrink-0 text-ink-faint">(deleted)</span>}
      </span>
    </Cell>
  )
}
