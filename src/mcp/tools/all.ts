/** The 25 tools, in the order of the contract: read, write, delete. */
import type { Tool } from '../tool.ts'
import { adSpendTools } from './ad-spend.ts'
import { campaignTools } from './campaigns.ts'
import { clickFlowTools } from './click-flows.ts'
import { conversionTools } from './conversions.ts'
import { funnelTools } from './funnels.ts'
import { landingTools } from './landings.ts'
import { offerTools } from './offers.ts'
import { postbackTools } from './postbacks.ts'
import { readingTools } from './reading.ts'

const byName = new Map(
  [
    ...readingTools,
    ...conversionTools,
    ...campaignTools,
    ...offerTools,
    ...landingTools,
    ...funnelTools,
    ...clickFlowTools,
    ...postbackTools,
    ...adSpendTools,
  ].map(tool => [tool.shown.name, tool]),
)

const ORDER = [
  'service_list_clicks',
  'service_get_report',
  'service_report_conversion',
  'service_create_campaign',
  'service_create_offer',
  'service_set_offer_status',
  'service_create_landing',
  'service_set_landing_status',
  'service_create_funnel',
  'service_create_click_flow',
  'service_set_click_flow_status',
  'service_update_campaign',
  'service_delete_campaign',
  'service_update_offer',
  'service_delete_offer',
  'service_update_landing',
  'service_delete_landing',
  'service_update_funnel',
  'service_delete_funnel',
  'service_delete_click_flow',
  'service_publish_click_flow',
  'service_create_postback',
  'service_update_postback',
  'service_delete_postback',
  'service_record_ad_spend',
]

export const TOOLS: readonly Tool[] = ORDER.flatMap(name => byName.get(name) ?? [])
