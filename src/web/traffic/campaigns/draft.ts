/** What the form of a campaign holds. */
import type { z } from 'zod'
import { type Campaign, type CampaignDraft, SOURCE_FIELDS } from '../../../traffic/campaigns/api.ts'
import { nameOfCopy } from '../../ground/ui/clone.tsx'

export type Draft = z.input<typeof CampaignDraft>
type CampaignRow = z.input<typeof Campaign>

/** What the form of a copy starts from: all of the original but its key. */
export const copyOf = (campaign: CampaignRow): Draft => ({
  ...draftOf(campaign),
  name: nameOfCopy(campaign.name),
  key: null,
})

/** What the form starts from. */
export function draftOf(campaign: CampaignRow | undefined): Draft {
  if (campaign === undefined)
    return {
      name: '',
      key: null,
      destination: { type: 'offer', offer_id: '' },
      offer_id: null,
      fallback_url: null,
      ad_account_id: null,
      traffic_source_id: null,
      domain_id: null,
      source: sourceOf({}),
      strict_filter: false,
      cost: costOf(undefined),
      goal: null,
    }
  const {
    name,
    destination,
    offer_id,
    fallback_url,
    ad_account_id,
    traffic_source_id,
    domain_id,
    strict_filter,
    goal,
  } = campaign
  const [source, cost] = [sourceOf(campaign.source), costOf(campaign.cost)]
  return {
    name,
    destination,
    offer_id,
    fallback_url,
    ad_account_id,
    traffic_source_id,
    domain_id,
    source,
    strict_filter,
    cost,
    goal,
  }
}

/** The currency is left to the server: there is one. */
function costOf(cost: CampaignRow['cost'] | undefined): NonNullable<Draft['cost']> {
  return { model: cost?.model ?? 'none', amount: cost?.amount ?? null, max: cost?.max ?? null }
}

/** With every field, as the form holds it: else it would be taken for changed once it is shown. */
function sourceOf(source: CampaignRow['source']): NonNullable<Draft['source']> {
  const names = Object.fromEntries(SOURCE_FIELDS.map(field => [field, source[field] ?? null]))
  return { ...names, template: (source.template as NonNullable<Draft['source']>['template']) ?? null }
}
