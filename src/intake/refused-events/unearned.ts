/**
 * A network's conversion that is recorded and earns nothing, because its offer pays for other types. It stays as it is, and what is kept says why.
 * Steps before what is paid, such as registrations, are told once a day for each network, offer and type: many networks report all of them.
 */
import { EVENT_TYPE_LABELS, type EventType } from '../../contract/event-types.ts'
import { LADDER, rungOfEvent } from '../../contract/ladder.ts'
import { USUAL_GOAL } from '../../traffic/event-settings/api.ts'
import type { Recorded } from '../events/decide.ts'
import { Diagnosed } from './diagnosis.ts'
import { onceId } from './difference.ts'

/** What is kept of such a call. `kept_once_by` is the same for every call of which nothing else is to be said. */
export class Unearned extends Diagnosed {
  readonly event_id: string
  readonly kept_once_by: string
  constructor(event_id: string, kept_once_by: string, error: string) {
    super('paid_for_other_types', error)
    this.event_id = event_id
    this.kept_once_by = kept_once_by
  }
}

/** How far on the way to the money a type is: its rung, and of those without one the highest where somebody may pay for it. */
function stepOf(type: string): number {
  const isPayable = USUAL_GOAL.some(one => one === type)
  return rungOfEvent(type) ?? (isPayable ? LADDER.length - 1 : 0)
}

const labelOf = (type: string): string => EVENT_TYPE_LABELS[type as EventType]

/** What is to be kept beside what was recorded; undefined where the offer pays for it, or pays nothing. */
export function unearnedOf(network_id: string, { event, paid_instead }: Recorded): Unearned | undefined {
  if (paid_instead === undefined) return undefined
  const { id, offer_id, type, created_at } = event
  const error = `recorded as ${labelOf(type)} and worth nothing, because its offer pays for ${paid_instead.map(labelOf).join(', ')}`
  const isStep = paid_instead.some(paid => stepOf(paid) > stepOf(type))
  const once = isStep ? [network_id, offer_id, type, created_at.slice(0, 10)] : [id]
  return new Unearned(id, onceId(once), error)
}
