/**
 * Network conversions that are recorded but earn nothing, because their offer pays on other types. The conversion stays, and a refused event says why.
 * Steps before the paid type, such as registrations, are kept once a day for each network, offer and type, because many networks report all of them.
 */
import { EVENT_TYPE_LABELS, type EventType } from '../../contract/event-types.ts'
import { LADDER, rungOfEvent } from '../../contract/ladder.ts'
import { USUAL_GOAL } from '../../traffic/event-settings/api.ts'
import type { Recorded } from '../events/decide.ts'
import { Diagnosed } from './diagnosis.ts'
import { sameRefusalId } from './difference.ts'

/** The refusal to keep for such a postback. It is kept once per `kept_once_by`. */
export class Unearned extends Diagnosed {
  readonly event_id: string
  readonly kept_once_by: string
  constructor(event_id: string, kept_once_by: string, error: string) {
    super('paid_for_other_types', error)
    this.event_id = event_id
    this.kept_once_by = kept_once_by
  }
}

/** How close to the payout a type is: its rung. A type without a rung counts as the highest if offers may pay on it. */
function stepOf(type: string): number {
  const isPayable = USUAL_GOAL.some(one => one === type)
  return rungOfEvent(type) ?? (isPayable ? LADDER.length - 1 : 0)
}

const labelOf = (type: string): string => EVENT_TYPE_LABELS[type as EventType]

/** The refusal to keep for a recorded conversion; undefined if the offer pays on its type, or pays nothing. */
export function unearnedOf(network_id: string, { event, paid_instead }: Recorded): Unearned | undefined {
  if (paid_instead === undefined) return undefined
  const { id, offer_id, type, created_at } = event
  const error = `recorded as ${labelOf(type)} and worth nothing, because its offer pays on ${paid_instead.map(labelOf).join(', ')}`
  const isStep = paid_instead.some(paid => stepOf(paid) > stepOf(type))
  const once = isStep ? [network_id, offer_id, type, created_at.slice(0, 10)] : [id]
  return new Unearned(id, sameRefusalId(once), error)
}
