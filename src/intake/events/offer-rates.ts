/** The rates a batch needs for offers that pay in another currency: read in its transaction, so that every process decides alike. */
import type pg from 'pg'
import { flight } from '../../ground/db/flight.ts'
import { type Place, rateQuestions, ratesRead } from '../../money/rates/rate-of-day.ts'
import { inheritedIn } from './decide.ts'
import type { Asked, Known } from './known.ts'

/** Reads them into what is known; without such an offer it asks nothing. `at` is the moment of the batch, as the database writes it. */
export async function readOfferRates(
  client: pg.PoolClient,
  asked: Asked,
  known: Map<number, Known>,
  { at, order }: { at: string; order: readonly string[] },
): Promise<void> {
  for (const [org_id, of] of known) {
    const places = new Map<string, Place>()
    for (const item of asked.get(org_id) ?? []) {
      const click = of.clicks.get(item.click_id)
      const place = item.kind === 'conversion' && click !== undefined ? inheritedIn(item, click, at) : undefined
      if (place !== undefined) places.set(`${place.currency} ${place.day}`, place)
    }
    if (places.size > 0) of.rateOf = ratesRead(await flight(client, rateQuestions(org_id, order, [...places.values()])))
  }
}
