/** What a network's words for what happened mean, by its status map: an event type, one that is held, or a verdict on what is recorded. */
import { EventType } from '../../contract/event-types.ts'
import { type EventStatus, VERDICTS } from '../../contract/revisions.ts'
import { Diagnosed, isMacro } from '../refused-events/diagnosis.ts'
import { BY_OFFER, HELD, type StatusMap } from './api.ts'

/** A parameter and its word, as it was sent. */
export type Said = { readonly name: string; readonly said: string }
/** `isNamed`: the call names the type; else it is the one that the click's offer pays for, and `type` where that names none. */
type Meaning =
  | { readonly type: EventType; readonly isNamed: boolean; readonly isHeld: boolean }
  | { readonly verdict: EventStatus }

/** What a word for a paid conversion stands for where neither the call nor the offer names a type. */
const USUALLY_PAID: EventType = 'purchase'

/** The refusal of a call whose `word`, as it was sent, means that there is nothing to record. */
export class Ignored extends Diagnosed {
  readonly word: string
  constructor(name: string, word: string) {
    super('status_ignored', `${name} is ${word.toLowerCase()}, which the status map ignores`)
    this.word = word
  }
}

/**
 * A word that means nothing to record goes before all others, then a verdict. A word that holds goes before one that does not, and holds what
 * another parameter's word stands for; else the first parameter whose word names a type counts, then one that leaves the type to the offer.
 */
export function meaningOf(
  all: readonly Said[],
  { statuses, default_type }: { readonly statuses: StatusMap; readonly default_type: EventType | null },
): Meaning {
  const words = all.map(({ name, said }) => ({ name, said, means: lookedUp(name, said.toLowerCase(), statuses) }))
  const ignored = words.find(({ means }) => means === null)
  if (ignored !== undefined) throw new Ignored(ignored.name, ignored.said)
  const meanings = words.flatMap(({ means }) => means ?? [])
  const [verdict] = meanings.flatMap(means => (means in VERDICTS ? VERDICTS[means as keyof typeof VERDICTS] : []))
  if (verdict !== undefined) return { verdict }
  const held = meanings.flatMap(means => (means.startsWith(HELD) ? means.slice(HELD.length) : []))
  const [type] = [...meanings, ...held].flatMap(means => typeOf(means) ?? [])
  const isHeld = held.length > 0
  if (type !== undefined) return { type, isNamed: true, isHeld }
  if (isHeld || meanings.includes(BY_OFFER)) return { type: USUALLY_PAID, isNamed: false, isHeld }
  const [unknown] = words
  if (unknown === undefined && default_type !== null) return { type: default_type, isNamed: false, isHeld }
  if (unknown === undefined) throw new Diagnosed('status_unmapped', 'the call holds no status')
  const word = unknown.said.toLowerCase()
  const diagnosis = isMacro(word) ? 'macro_not_replaced' : 'status_unmapped'
  throw new Diagnosed(diagnosis, `${unknown.name} is ${word}, which the status map does not name`)
}

/** By the map, for this parameter or for all; one of Sluice's own types means itself. Undefined: nobody knows. */
function lookedUp(name: string, word: string, statuses: StatusMap): StatusMap[string] | undefined {
  for (const key of [`${name.toLowerCase()}=${word}`, word])
    if (Object.hasOwn(statuses, key)) return statuses[key] ?? null
  return typeOf(word)
}

const typeOf = (word: string): EventType | undefined => EventType.options.find(type => type === word)
