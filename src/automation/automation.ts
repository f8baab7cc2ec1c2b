/** Puts the rooms of automation together for `house.ts`. */
import { room } from '../ground/room.ts'
import type { OpenPart } from '../ground/running.ts'
import * as alertsApi from './alerts/api.ts'
import * as alertSettings from './alerts/settings.ts'
import { openAlertWatch } from './alerts/watch.ts'
import * as receiversApi from './receivers/api.ts'
import * as receivers from './receivers/receivers.ts'
import { testReceiver } from './receivers/trial.ts'
import { openReceiverWorker } from './receivers/worker.ts'
import { openAutomationRetention } from './retention.ts'
import * as rulesApi from './rules/api.ts'
import { checkDeeds } from './rules/confirm.ts'
import { listRuleChecks } from './rules/log.ts'
import type { Tools } from './own-acts/calls.ts'
import * as rules from './rules/rules.ts'
import { tryDeeds } from './rules/try.ts'

export type { Tools as OwnTools } from './own-acts/calls.ts'
export { openRuleRounds } from './rules/rounds.ts'
export { openWeightRounds } from './weights/rounds.ts'

/** The endpoints. `tools` are known once all rooms are open. */
export const automationRooms = (tools: () => Tools) => [
  ...room(receiversApi, { ...receivers, testReceiver }),
  ...room(alertsApi, alertSettings),
  ...room(rulesApi, { ...rules, listRuleChecks, ...checkDeeds(tools), ...tryDeeds }),
]

/** The worker and the periodic jobs, which do not run with ROLE=serve. */
export const AUTOMATION_JOBS: readonly OpenPart[] = [openReceiverWorker, openAlertWatch, openAutomationRetention]
