/** Every room that needs nothing but the ground, in reading order. Rooms with something running are furnished in house.ts. */
import * as adAccountsApi from './ad-accounts/api.ts'
import * as adAccounts from './ad-accounts/ad-accounts.ts'
import * as adOutcome from './ad-accounts/outcome.ts'
import * as adTest from './ad-accounts/test-event.ts'
import * as adSpendApi from './ad-spend/api.ts'
import * as adSpend from './ad-spend/ad-spend.ts'
import * as spendImport from './ad-spend/import.ts'
import * as auditApi from './audit/api.ts'
import * as audit from './audit/reconcile.ts'
import * as billingApi from './billing/api.ts'
import * as billing from './billing/billing.ts'
import * as lowBalance from './billing/low-balance.ts'
import * as campaignsApi from './campaigns/api.ts'
import * as campaigns from './campaigns/campaigns.ts'
import * as clickFlowsApi from './click-flows/api.ts'
import * as clickFlows from './click-flows/click-flows.ts'
import * as flowTrial from './click-flows/try.ts'
import * as flowVersions from './click-flows/versions.ts'
import * as feedApi from './feed/api.ts'
import * as feed from './feed/feed.ts'
import * as funnelsApi from './funnels/api.ts'
import * as funnels from './funnels/funnels.ts'
import * as keysApi from './keys/api.ts'
import * as grants from './keys/grants.ts'
import * as keys from './keys/keys.ts'
import * as landingsApi from './landings/api.ts'
import * as landings from './landings/landings.ts'
import * as offersApi from './offers/api.ts'
import * as offers from './offers/offers.ts'
import * as organizationsApi from './organizations/api.ts'
import * as invitations from './organizations/invitations.ts'
import * as members from './organizations/members.ts'
import * as organizations from './organizations/organizations.ts'
import * as postbacksApi from './postbacks/api.ts'
import * as backfill from './postbacks/backfill.ts'
import * as postbacks from './postbacks/postbacks.ts'
import * as testFire from './postbacks/test-fire.ts'
import * as reportsApi from './reports/api.ts'
import * as reports from './reports/report.ts'
import { room } from './room.ts'
import * as tracesApi from './traces/api.ts'
import * as traces from './traces/traces.ts'
import * as vitalsApi from './vitals/api.ts'
import * as vitals from './vitals/vitals.ts'

/** What monitoring asks: all that a process answers which only delivers. */
export const probes = room(vitalsApi, vitals)

export const plainRooms = [
  room(organizationsApi, { ...organizations, ...members, ...invitations }),
  room(keysApi, { ...keys, ...grants }),
  room(campaignsApi, campaigns),
  room(offersApi, offers),
  room(landingsApi, landings),
  room(funnelsApi, funnels),
  room(clickFlowsApi, { ...clickFlows, ...flowVersions, ...flowTrial }),
  room(postbacksApi, { ...postbacks, ...backfill, ...testFire }),
  room(billingApi, { ...billing, ...lowBalance }),
  room(auditApi, audit),
  room(feedApi, feed),
  room(tracesApi, traces),
  room(reportsApi, reports),
  room(adSpendApi, { ...adSpend, ...spendImport }),
  room(adAccountsApi, { ...adAccounts, ...adOutcome, ...adTest }),
  probes,
].flat()
