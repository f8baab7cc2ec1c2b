/**
 * The rates a batch needs: of days, for offers that pay in another currency and for what is said in one; and those that conversions were
 * booked by. Read in its transaction, so that every process decides alike.
 */
import type pg from 'pg'
import { ask, flight } from '../../ground/db/flight.ts'
import { type CurrencyDay, rateQuestions, ratesRead } from '../../money/rates/rate-of-day.ts'
import { BOOKED, Booked, type BookedRow, dayReceived } from './booked.ts'
import { inheritedIn } from './decide.ts'
import type { Item } from './items.ts'
import type { Known } from './known.ts'
import type { Asked } from './read-known.ts'

/** Reads them into what is known; without another currency it asks nothing. `at` is the moment of the batch, as the database writes it. */
export async function readBatchRates(
  client: pg.PoolClient,
  asked: Asked,
  known: Map<number, Known>,
  { at, order }: { at: string; order: readonly string[] },
): Promise<void> {
  for (const [org_id, of] of known) {
    const places = new Map<string, CurrencyDay>()
    const events = new Set<string>()
    for (const item of asked.get(org_id) ?? []) {
      const place = placeOf(item, of, at)
      if (place !== undefined) places.set(`${place.currency} ${place.day}`, place)
      if (saysForeign(item)) for (const { id } of of.ofClick.get(item.click_id) ?? []) events.add(id)
    }
    if (places.size > 0) of.rateOf = ratesRead(await flight(client, rateQuestions(org_id, order, [...places.values()])))
    if (events.size === 0) continue
    const { rows } = await flight(client, { rows: ask<BookedRow>(BOOKED, [org_id, [...events]]) })
    of.booked = new Booked(rows)
  }
}

/** What may be said of a conversion that is recorded, in another currency. */
const saysForeign = (item: Item): boolean =>
  item.kind === 'revision' ? item.foreign !== undefined : item.kind === 'conversion' && item.money !== undefined

function placeOf(item: Item, { clicks }: Known, at: string): CurrencyDay | undefined {
  if (item.kind === 'rise') return undefined
  if (item.kind === 'conversion') {
    const click = clicks.get(item.click_id)
    return click === undefined ? undefined : inheritedIn(item, click, at)
  }
  const { foreign, received_at } = item
  return foreign === undefined ? undefined : { currency: foreign.currency, day: dayReceived(received_at, at) }
}
