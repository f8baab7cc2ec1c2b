/** The rooms that need only the ground. house.ts furnishes the rooms that have running parts. */
import { room } from './ground/room.ts'
import * as adSpend from './money/ad-spend/ad-spend.ts'
import * as adSpendApi from './money/ad-spend/api.ts'
import * as spendImport from './money/ad-spend/import.ts'
import { spreadDeeds } from './money/ad-spend/spreads.ts'
import * as billingApi from './money/billing/api.ts'
import * as billing from './money/billing/billing.ts'
import * as lowBalance from './money/billing/low-balance.ts'
import * as ratesApi from './money/rates/api.ts'
import * as rates from './money/rates/rates.ts'
import * as spendAccountsApi from './money/spend-accounts/api.ts'
import * as spendAccounts from './money/spend-accounts/spend-accounts.ts'
import * as adAccounts from './outgoing/ad-accounts/ad-accounts.ts'
import * as adAccountsApi from './outgoing/ad-accounts/api.ts'
import * as platformAnswersApi from './outgoing/platform-answers/api.ts'
import * as outcome from './outgoing/platform-answers/outcome.ts'
import * as testEvent from './outgoing/platform-answers/test-event.ts'
import * as postbacksApi from './outgoing/postbacks/api.ts'
import * as backfill from './outgoing/postbacks/backfill.ts'
import * as postbacks from './outgoing/postbacks/postbacks.ts'
import * as testFire from './outgoing/postbacks/test-fire.ts'
import * as accounts from './people/accounts/accounts.ts'
import * as accountsApi from './people/accounts/api.ts'
import type { Attempts } from './people/accounts/attempts.ts'
import * as avatars from './people/accounts/avatars.ts'
import * as preferences from './people/accounts/preferences.ts'
import * as keysApi from './people/keys/api.ts'
import * as grants from './people/keys/grants.ts'
import * as keys from './people/keys/keys.ts'
import * as organizationsApi from './people/organizations/api.ts'
import * as invitations from './people/organizations/invitations.ts'
import * as members from './people/organizations/members.ts'
import * as organizations from './people/organizations/organizations.ts'
import * as secondFactorApi from './people/second-factor/api.ts'
import * as secondFactor from './people/second-factor/second-factor.ts'
import * as attentionApi from './reading/attention/api.ts'
import { readAttention } from './reading/attention/attention.ts'
import * as auditApi from './reading/audit/api.ts'
import * as audit from './reading/audit/reconcile.ts'
import * as exploreViewsApi from './reading/explore-views/api.ts'
import * as exploreViews from './reading/explore-views/explore-views.ts'
import * as feedApi from './reading/feed/api.ts'
import * as feed from './reading/feed/feed.ts'
import * as figuresApi from './reading/figures/api.ts'
import * as figures from './reading/figures/figures.ts'
import * as reportsApi from './reading/reports/api.ts'
import { clicksByCell, daysWithCost } from './reading/reports/cells.ts'
import * as reports from './reading/reports/report.ts'
import * as tracesApi from './reading/traces/api.ts'
import * as traces from './reading/traces/traces.ts'
import * as campaignsApi from './traffic/campaigns/api.ts'
import * as campaigns from './traffic/campaigns/campaigns.ts'
import { nameCampaigns } from './traffic/campaigns/names.ts'
import * as capsApi from './traffic/caps/api.ts'
import * as caps from './traffic/caps/caps.ts'
import * as certificatesApi from './traffic/certificates/api.ts'
import { answerChallenge } from './traffic/certificates/challenges.ts'
import * as clickFlowsApi from './traffic/click-flows/api.ts'
import * as clickFlows from './traffic/click-flows/click-flows.ts'
import * as flowTrial from './traffic/click-flows/try.ts'
import * as flowVersions from './traffic/click-flows/versions.ts'
import * as funnelsApi from './traffic/funnels/api.ts'
import * as funnels from './traffic/funnels/funnels.ts'
import * as landingsApi from './traffic/landings/api.ts'
import * as landings from './traffic/landings/landings.ts'
import * as offersApi from './traffic/offers/api.ts'
import * as offers from './traffic/offers/offers.ts'
import * as repeatedPayouts from './traffic/offers/repeated-payouts.ts'
import * as openHoursApi from './traffic/open-hours/api.ts'
import * as openHours from './traffic/open-hours/open-hours.ts'
import * as eventSettingsApi from './traffic/event-settings/api.ts'
import * as eventSettings from './traffic/event-settings/event-settings.ts'
import * as sourcesApi from './traffic/sources/api.ts'
import * as sources from './traffic/sources/sources.ts'
import * as vitalsApi from './vitals/api.ts'
import * as vitals from './vitals/vitals.ts'

/** The health and metrics endpoints, the only ones of a process with ROLE=work. */
export const probes = room(vitalsApi, vitals)

/** The organizations room. `attempts` limits the mails of its invitations. */
export const organizationsRoom = (attempts: Attempts) =>
  room(organizationsApi, {
    ...organizations,
    ...members,
    ...invitations,
    createInvitation: (context, call) => invitations.createInvitation({ ...context, attempts }, call),
  })

export const plainRooms = [
  room(accountsApi, { ...accounts, ...preferences, ...avatars }),
  room(secondFactorApi, secondFactor),
  room(keysApi, { ...keys, ...grants }),
  room(campaignsApi, { ...campaigns, nameCampaigns }),
  room(sourcesApi, sources),
  room(capsApi, caps),
  room(openHoursApi, openHours),
  room(eventSettingsApi, eventSettings),
  room(offersApi, { ...offers, ...repeatedPayouts }),
  room(landingsApi, landings),
  room(funnelsApi, funnels),
  room(clickFlowsApi, { ...clickFlows, ...flowVersions, ...flowTrial }),
  room(postbacksApi, { ...postbacks, ...backfill, ...testFire }),
  room(billingApi, { ...billing, ...lowBalance }),
  room(ratesApi, rates),
  room(auditApi, audit),
  room(attentionApi, { readAttention }),
  room(feedApi, feed),
  room(tracesApi, traces),
  room(reportsApi, reports),
  room(figuresApi, figures),
  room(exploreViewsApi, exploreViews),
  room(adSpendApi, { ...adSpend, ...spendImport, ...spreadDeeds({ clicksByCell, daysWithCost }) }),
  room(certificatesApi, { answerChallenge }),
  room(spendAccountsApi, spendAccounts),
  room(adAccountsApi, adAccounts),
  room(platformAnswersApi, { ...testEvent, ...outcome }),
  probes,
].flat()
