/** Puts the rooms of automation together for `house.ts`. */
import { room } from '../ground/room.ts'
import type { OpenPart } from '../ground/running.ts'
import * as receiversApi from './receivers/api.ts'
import * as receivers from './receivers/receivers.ts'
import { openMessageRetention } from './receivers/retention.ts'
import { testReceiver } from './receivers/trial.ts'
import { openReceiverWorker } from './receivers/worker.ts'

/** The endpoints. */
export const automationRooms = () => [...room(receiversApi, { ...receivers, testReceiver })]

/** The worker and the periodic jobs, which do not run with ROLE=serve. */
export const AUTOMATION_JOBS: readonly OpenPart[] = [openReceiverWorker, openMessageRetention]
