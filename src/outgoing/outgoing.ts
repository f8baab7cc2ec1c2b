/** Puts the outgoing rooms together for `house.ts`. */
import { type Ground, room } from '../ground/room.ts'
import type { OpenPart } from '../ground/running.ts'
import * as adAccounts from './ad-accounts/ad-accounts.ts'
import * as adAccountsApi from './ad-accounts/api.ts'
import { adAccountLane } from './ad-accounts/lane.ts'
import * as deliveriesApi from './deliveries/api.ts'
import * as deliveries from './deliveries/deliveries.ts'
import type { Lane } from './deliveries/lane.ts'
import * as resend from './deliveries/resend.ts'
import { openAttemptRetention } from './deliveries/retention.ts'
import * as runs from './deliveries/runs.ts'
import { openDeliveryWorker } from './deliveries/worker.ts'
import * as platformAnswersApi from './platform-answers/api.ts'
import * as outcome from './platform-answers/outcome.ts'
import * as testEvent from './platform-answers/test-event.ts'
import * as postbacksApi from './postbacks/api.ts'
import * as backfill from './postbacks/backfill.ts'
import { postbackLane } from './postbacks/lane.ts'
import * as postbacks from './postbacks/postbacks.ts'
import * as testFire from './postbacks/test-fire.ts'

/** Where deliveries go: postback rules and ad accounts. */
export const lanesOf = (ground: Ground): readonly Lane[] => [postbackLane, adAccountLane(ground)]

/** The endpoints. */
export const outgoingRooms = (lanes: readonly Lane[]) => [
  ...room(deliveriesApi, { ...deliveries, ...resend, ...runs, resendDeliveries: resend.openResend(lanes) }),
  ...room(postbacksApi, { ...postbacks, ...backfill, ...testFire }),
  ...room(adAccountsApi, adAccounts),
  ...room(platformAnswersApi, { ...testEvent, ...outcome }),
]

/** The delivery worker and the periodic jobs, which do not run with ROLE=serve. */
export const outgoingJobs = (lanes: readonly Lane[]): readonly OpenPart[] => [
  ground => openDeliveryWorker(ground, lanes),
  openAttemptRetention,
]
