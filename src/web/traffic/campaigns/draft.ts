/** The values of a campaign's form. */
import type { z } from 'zod'
import { type Campaign, type CampaignDraft, SOURCE_FIELDS } from '../../../traffic/campaigns/api.ts'
import { nameOfCopy } from '../../../contract/copies.ts'

export type CampaignValues = z.input<typeof CampaignDraft>
type CampaignRow = z.input<typeof Campaign>

/** The values of a copy: all of the original except its key. */
export const copyOf = (campaign: CampaignRow): CampaignValues => ({
  ...campaignValuesOf(campaign),
  name: nameOfCopy(campaign.name),
  key: null,
})

/** The form's initial values. */
export function campaignValuesOf(campaign: CampaignRow | undefined): CampaignValues {
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
      sites: [],
      browser_types: [],
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
    sites,
    browser_types,
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
    sites,
    browser_types,
  }
}

/** Without a currency: the server knows only one. */
function costOf(cost: CampaignRow['cost'] | undefined): NonNullable<CampaignValues['cost']> {
  return { model: cost?.model ?? 'none', amount: cost?.amount ?? null, max: cost?.max ?? null }
}

/** With every field present: otherwise the form counts as changed as soon as it is shown. */
function sourceOf(source: CampaignRow['source']): NonNullable<CampaignValues['source']> {
  const names = Object.fromEntries(SOURCE_FIELDS.map(field => [field, source[field] ?? null]))
  return { ...names, template: (source.template as NonNullable<CampaignValues['source']>['template']) ?? null }
}
