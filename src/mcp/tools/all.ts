/** All tools, in the order of the contract: those that read, write and delete, each room's in turn. */
import { RIGHTS, TIERS } from '../../contract/rights.ts'
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

const tools: readonly Tool[] = [
  ...readingTools,
  ...conversionTools,
  ...campaignTools,
  ...offerTools,
  ...landingTools,
  ...funnelTools,
  ...clickFlowTools,
  ...postbackTools,
  ...adSpendTools,
]

export const TOOLS = TIERS.flatMap(tier => tools.filter(({ right }) => RIGHTS[right].tier === tier))
