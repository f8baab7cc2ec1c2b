/** The stored form of a campaign's cost model. Owns no table. */
import type { CampaignCost, CampaignCostDraft } from '../../contract/campaign-cost.ts'

/** The highest cost of a click, in US dollars, that is read from a link if the campaign sets no limit. */
const USUAL_MAX = '10'

/** A stored cost model. */
export type StoredCost = NonNullable<CampaignCost>

/** The stored form of a sent model; null for none. */
export function storedCost(sent: CampaignCostDraft | null | undefined): StoredCost | null {
  if (sent == null || sent.model === 'none') return null
  const { model, amount = null } = sent
  const max = model === 'link' ? (sent.max ?? USUAL_MAX) : null
  return { model, amount, currency: 'USD', max }
}

export const costText = (cost: StoredCost | null): string | null => (cost === null ? null : JSON.stringify(cost))
