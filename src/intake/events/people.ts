/**
 * Finds the person of each conversion in a batch: the Telegram user, else the person already known for the click's visitor, else a new person for the
 * visitor or, without one, for the click. A visitor who was billed before becomes the first Telegram user seen on their clicks.
 */
import { newId } from '../../contract/ids.ts'
import type { KnownClick, ConvertingPerson } from './organization-state.ts'
import { personKey } from './person.ts'

/** The persons of a batch, decided in the order of its conversions. New persons and keys are written with the batch. */
export class People {
  readonly created: ConvertingPerson[] = []
  readonly adopted: ConvertingPerson[] = []
  readonly linked: { key: string; person_id: string }[] = []
  readonly #known: Map<string, ConvertingPerson>

  constructor(known: Map<string, ConvertingPerson>) {
    this.#known = known
  }

  /** The person of a conversion on this click. Links the keys that lead to them from now on. */
  of(click: KnownClick, telegram_user_id: string | undefined): ConvertingPerson {
    if (click.test) return this.#tester(click, telegram_user_id)
    const anchor = click.visitor_id === null ? personKey.click(click.id) : personKey.visitor(click.visitor_id)
    const anchored = this.#known.get(anchor)
    if (telegram_user_id === undefined) return anchored ?? this.#link(anchor, this.#create(null))
    const key = personKey.telegram(telegram_user_id)
    const known = this.#known.get(key)
    if (known !== undefined) return anchored === undefined ? this.#link(anchor, known) : known
    if (anchored === undefined) return this.#link(anchor, this.#link(key, this.#create(telegram_user_id)))
    if (anchored.telegram_user_id !== null) return this.#link(key, this.#create(telegram_user_id))
    anchored.telegram_user_id = telegram_user_id
    if (!this.created.includes(anchored)) this.adopted.push(anchored)
    return this.#link(key, anchored)
  }

  /** A test links no visitor or Telegram user to a person, because that could bill a visitor twice later. */
  #tester(click: KnownClick, telegram_user_id: string | undefined): ConvertingPerson {
    const known = telegram_user_id === undefined ? undefined : this.#known.get(personKey.telegram(telegram_user_id))
    const anchor = personKey.click(click.id)
    return known ?? this.#known.get(anchor) ?? this.#link(anchor, this.#create(null))
  }

  #create(telegram_user_id: string | null): ConvertingPerson {
    const person = { id: newId(), telegram_user_id, is_charged: false }
    this.created.push(person)
    return person
  }

  #link(key: string, person: ConvertingPerson): ConvertingPerson {
    this.#known.set(key, person)
    this.linked.push({ key, person_id: person.id })
    return person
  }
}
