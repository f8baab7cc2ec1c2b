/** Puts the intake rooms together for `house.ts`. */
import { type Ground, room } from '../ground/room.ts'
import type { OpenPart, TakePart } from '../ground/running.ts'
import { sourceOrder } from '../money/rates/rate-of-day.ts'
import type { LiveRates } from '../money/rates/live.ts'
import type { LiveCampaigns } from '../traffic/campaigns/live.ts'
import * as clicksApi from './clicks/api.ts'
import { clickDeeds, openClicks, type Patience } from './clicks/clicks.ts'
import { openIpErasure } from './clicks/ip-erasure.ts'
import { openClickRetention } from './clicks/retention.ts'
import { openVisitRetention } from './clicks/visit-retention.ts'
import * as eventsApi from './events/api.ts'
import { type ConversionTerms, openConversions } from './events/conversions.ts'
import { eventDeeds, foreseeConversion } from './events/events.ts'
import { openHolds } from './events/holds.ts'
import { exportEvents, listEvents } from './events/log.ts'
import * as networksApi from './networks/api.ts'
import { openNetworks } from './networks/open.ts'
import * as onwardApi from './onward/api.ts'
import { openLanded } from './onward/landed.ts'
import { onwardDeeds, wayOnOf } from './onward/onward.ts'
import * as pagesApi from './pages/api.ts'
import { pageDeeds } from './pages/pages.ts'
import { openPageServers } from './pages/servers.ts'
import * as reconciliationsApi from './reconciliations/api.ts'
import { reconciliationDeeds } from './reconciliations/reconciliations.ts'
import { openReconciliationRetention } from './reconciliations/retention.ts'
import * as refusedEventsApi from './refused-events/api.ts'
import { openKeeper } from './refused-events/keep.ts'
import { refusedEventDeeds } from './refused-events/refused-events.ts'
import { openRefusedRetention } from './refused-events/retention.ts'
import * as revisionsApi from './revisions/api.ts'
import { revisionDeeds } from './revisions/revisions.ts'

/** Settings that only tests and the bench change. */
export type IntakeOptions = { patience?: Patience }

type IntakeParts = {
  live: LiveCampaigns
  rates: LiveRates
  stillAllowed: NonNullable<ConversionTerms['stillAllowed']>
  /** Counts a network's call against the quota; false when it is used up. */
  mayRecord: (org_id: number) => Promise<boolean>
}

/** The endpoints, and what the gate and Telegram need of them: clicks, conversions, and the keeper of refused calls. */
export async function openIntake(
  ground: Ground,
  { live, rates, stillAllowed, mayRecord }: IntakeParts,
  { patience }: IntakeOptions,
  take: TakePart,
) {
  const { config, log } = ground
  const clicks = take(await openClicks(ground, live, rates.usdPerUnit, patience))
  const conversions = take(
    openConversions(ground, { stillAllowed, unsettled: clicks.unsettled, rateOrder: sourceOrder(config) }),
  )
  if (config.role !== 'serve') take(openHolds(ground, conversions))
  const landed = take(openLanded({ conversions, clicks, log }))
  clicks.onJoined((org_id, click_id) => void landed.mark(org_id, click_id))
  const keeper = take(openKeeper(ground))
  const networks = take(openNetworks(ground, { conversions, keeper, mayRecord }))
  const onward = { live, clicks, landed }
  const pages = { ground, live, clicks, landed, keeper, conversions, servers: openPageServers(ground) }
  const rooms = [
    ...room(clicksApi, clickDeeds(clicks)),
    ...room(eventsApi, { ...eventDeeds(conversions), listEvents, exportEvents }),
    ...room(revisionsApi, revisionDeeds(conversions)),
    ...room(onwardApi, onwardDeeds(onward)),
    ...room(pagesApi, pageDeeds(pages, wayOnOf(onward))),
    ...room(networksApi, networks.deeds),
    ...room(reconciliationsApi, reconciliationDeeds(conversions)),
    ...room(refusedEventsApi, refusedEventDeeds({ conversions, readCallAgain: networks.readCallAgain })),
  ]
  return { rooms, clicks, conversions, keeper, foresight: { recordConversion: foreseeConversion(conversions) } }
}

/** The periodic jobs of every process. */
export const INTAKE_JOBS_OF_EVERY_PROCESS: readonly OpenPart[] = [openRefusedRetention]

/** The periodic jobs that do not run with ROLE=serve. */
export const INTAKE_JOBS: readonly OpenPart[] = [
  openIpErasure,
  openClickRetention,
  openVisitRetention,
  openReconciliationRetention,
]
