/** A campaign's cost model as it is stored and as it is shown. Owns no table. */
import type { CampaignCost, CampaignCostDraft } from '../../contract/campaign-cost.ts'

/** US dollars: what a link may say of one click, where the campaign sets no other bound. */
const USUAL_MAX = '10'

/** A cost model as it is kept; without one it is null. */
export type StoredCost = NonNullable<CampaignCost>

/** What is kept of a model that was sent; null for none. */
export function storedCost(sent: CampaignCostDraft | null | undefined): StoredCost | null {
  if (sent == null || sent.model === 'none') return null
  const { model, amount = null } = sent
  const max = model === 'link' ? (sent.max ?? USUAL_MAX) : null
  return { model, amount, currency: 'USD', max }
}

/** As the database takes it. */
export const costText = (cost: StoredCost | null): string | null => (cost === null ? null : JSON.stringify(cost))
