/** Puts the rooms of traffic together for `house.ts`. */
import { type Ground, room } from '../ground/room.ts'
import type { OpenPart, TakePart } from '../ground/running.ts'
import * as automaticWeightsApi from './automatic-weights/api.ts'
import * as automaticWeights from './automatic-weights/automatic-weights.ts'
import * as campaignsApi from './campaigns/api.ts'
import * as campaigns from './campaigns/campaigns.ts'
import { openLiveCampaigns } from './campaigns/live.ts'
import { nameCampaigns } from './campaigns/names.ts'
import * as capsApi from './caps/api.ts'
import * as caps from './caps/caps.ts'
import { openCapNotices } from './caps/notices.ts'
import * as certificatesApi from './certificates/api.ts'
import { answerChallenge } from './certificates/challenges.ts'
import { openCertificateFiles } from './certificates/files.ts'
import { openLiveCertificates } from './certificates/live.ts'
import { openCertificateWorker } from './certificates/worker.ts'
import * as clickFlowsApi from './click-flows/api.ts'
import * as clickFlows from './click-flows/click-flows.ts'
import * as flowTrial from './click-flows/try.ts'
import * as flowVersions from './click-flows/versions.ts'
import * as domainsApi from './domains/api.ts'
import { checkDomainSoon, openDomainChecks } from './domains/checker.ts'
import { openDomainNotices } from './domains/notices.ts'
import { openDomains } from './domains/open.ts'
import { openReputation } from './domains/reputation.ts'
import * as eventSettingsApi from './event-settings/api.ts'
import * as eventSettings from './event-settings/event-settings.ts'
import * as funnelsApi from './funnels/api.ts'
import * as funnels from './funnels/funnels.ts'
import * as landingsApi from './landings/api.ts'
import * as landings from './landings/landings.ts'
import * as leftOutApi from './left-out/api.ts'
import { createCampaignWithList } from './left-out/copies.ts'
import * as leftOut from './left-out/left-out.ts'
import * as notesApi from './notes/api.ts'
import * as notes from './notes/notes.ts'
import * as offersApi from './offers/api.ts'
import * as offers from './offers/offers.ts'
import * as repeatedPayouts from './offers/repeated-payouts.ts'
import * as openHoursApi from './open-hours/api.ts'
import * as openHours from './open-hours/open-hours.ts'
import * as sourcesApi from './sources/api.ts'
import * as sources from './sources/sources.ts'
import * as tagsApi from './tags/api.ts'
import * as tags from './tags/tags.ts'
import * as testEndsApi from './test-ends/api.ts'
import * as testEnds from './test-ends/test-ends.ts'

/** The endpoints, and what a click is led by: the campaigns in memory and the domains. */
export async function openTraffic(ground: Ground, take: TakePart) {
  const domains = take(await openDomains(ground))
  const live = take(await openLiveCampaigns(ground))
  const rooms = [
    ...room(campaignsApi, { ...campaigns, nameCampaigns, createCampaign: createCampaignWithList }),
    ...room(sourcesApi, sources),
    ...room(capsApi, caps),
    ...room(openHoursApi, openHours),
    ...room(leftOutApi, leftOut),
    ...room(eventSettingsApi, eventSettings),
    ...room(offersApi, { ...offers, ...repeatedPayouts }),
    ...room(landingsApi, landings),
    ...room(funnelsApi, funnels),
    ...room(clickFlowsApi, { ...clickFlows, ...flowVersions, ...flowTrial }),
    ...room(testEndsApi, testEnds),
    ...room(automaticWeightsApi, automaticWeights),
    ...room(tagsApi, tags),
    ...room(notesApi, notes),
    ...room(domainsApi, domains.deeds),
    ...room(certificatesApi, { answerChallenge }),
  ]
  return { rooms, domains, live }
}

/** The periodic jobs, which do not run with ROLE=serve. */
export const TRAFFIC_JOBS: readonly OpenPart[] = [openCapNotices, openDomainChecks, openDomainNotices, openReputation]

/** The certificates for HTTPS, and the worker that orders them with TLS=auto. Undefined with TLS=off. */
export async function openCertificates(ground: Ground, take: TakePart) {
  if (ground.config.tls === 'off') return undefined
  const files = await openCertificateFiles(ground)
  if (files !== undefined) take(files)
  const live = take(await openLiveCertificates(ground, files))
  return { live, openWorker: () => openCertificateWorker(ground, files, name => checkDomainSoon(ground, name)) }
}
