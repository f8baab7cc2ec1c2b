/** The meaning of a network's statuses by its status map: an event type, a held event type, or a verdict on a recorded conversion. */
import { EventType } from '../../contract/event-types.ts'
import { type EventStatus, VERDICTS } from '../../contract/revisions.ts'
import { Diagnosed, isMacro } from '../refused-events/diagnosis.ts'
import { BY_OFFER, HELD, type StatusMap } from './api.ts'

/** A parameter with a status, as sent. */
export type SentStatus = { readonly name: string; readonly status: string }
/** `isNamed`: the postback names the type. Else it is a type that the click's offer pays on, or `type` if the offer names none. */
type Meaning =
  | { readonly type: EventType; readonly isNamed: boolean; readonly isHeld: boolean }
  | { readonly verdict: EventStatus }

/** The type of a paid conversion if neither the postback nor the offer names one. */
const DEFAULT_PAID_TYPE: EventType = 'purchase'

/** The refusal of a postback whose status, as sent, is ignored by the map. */
export class Ignored extends Diagnosed {
  readonly status_sent: string
  constructor(name: string, status: string) {
    super('status_ignored', `${name} is ${status.toLowerCase()}, which the status map ignores`)
    this.status_sent = status
  }
}

/**
 * An ignored status goes first, then a verdict. A status that holds goes before one that does not, and puts the type named by another parameter on
 * hold. Else the first parameter that names a type counts, then one that leaves the type to the offer.
 */
export function meaningOf(
  sent: readonly SentStatus[],
  { statuses, default_type }: { readonly statuses: StatusMap; readonly default_type: EventType | null },
): Meaning {
  const read = sent.map(({ name, status }) => ({ name, status, means: lookUp(name, status.toLowerCase(), statuses) }))
  const ignored = read.find(({ means }) => means === null)
  if (ignored !== undefined) throw new Ignored(ignored.name, ignored.status)
  const meanings = read.flatMap(({ means }) => means ?? [])
  const [verdict] = meanings.flatMap(means => (means in VERDICTS ? VERDICTS[means as keyof typeof VERDICTS] : []))
  if (verdict !== undefined) return { verdict }
  const held = meanings.flatMap(means => (means.startsWith(HELD) ? means.slice(HELD.length) : []))
  const [type] = [...meanings, ...held].flatMap(means => typeOf(means) ?? [])
  const isHeld = held.length > 0
  if (type !== undefined) return { type, isNamed: true, isHeld }
  if (isHeld || meanings.includes(BY_OFFER)) return { type: DEFAULT_PAID_TYPE, isNamed: false, isHeld }
  const [unknown] = read
  if (unknown === undefined && default_type !== null) return { type: default_type, isNamed: false, isHeld }
  if (unknown === undefined) throw new Diagnosed('status_unmapped', 'the postback has no status')
  const status = unknown.status.toLowerCase()
  const diagnosis = isMacro(status) ? 'macro_not_replaced' : 'status_unmapped'
  throw new Diagnosed(diagnosis, `${unknown.name} is ${status}, which the status map does not have`)
}

/** The meaning by the map, for this parameter or for all. One of Sluice's event types means itself. Undefined: unknown. */
function lookUp(name: string, status: string, statuses: StatusMap): StatusMap[string] | undefined {
  for (const key of [`${name.toLowerCase()}=${status}`, status])
    if (Object.hasOwn(statuses, key)) return statuses[key] ?? null
  return typeOf(status)
}

const typeOf = (text: string): EventType | undefined => EventType.options.find(type => type === text)
