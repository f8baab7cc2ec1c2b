/**
 * Reads the rates a batch needs: rates of days, for offers and revisions in other currencies, and the rates that conversions were booked
 * by. Read in the batch's transaction, so that every process decides by the same rates.
 */
import type pg from 'pg'
import { ask, flight } from '../../ground/db/flight.ts'
import { type CurrencyDay, rateQuestions, ratesRead } from '../../money/rates/rate-of-day.ts'
import { READ_BOOKED_RATES, BookedRates, type BookedRateRow, dayReceived } from './booked-rates.ts'
import { inheritedIn } from './earned.ts'
import type { Item } from './items.ts'
import type { OrganizationState } from './organization-state.ts'
import type { BatchItems } from './read-state.ts'

/** Adds the rates to the states. Reads nothing if all amounts are in dollars. `at` is the time of the batch, as text of the database. */
export async function readBatchRates(
  client: pg.PoolClient,
  batch: BatchItems,
  states: Map<number, OrganizationState>,
  { at, order }: { at: string; order: readonly string[] },
): Promise<void> {
  for (const [org_id, state] of states) {
    const places = new Map<string, CurrencyDay>()
    const events = new Set<string>()
    for (const item of batch.get(org_id) ?? []) {
      const currencyDay = placeOf(item, state, at)
      if (currencyDay !== undefined) places.set(`${currencyDay.currency} ${currencyDay.day}`, currencyDay)
      if (hasForeignAmount(item)) for (const { id } of state.ofClick.get(item.click_id) ?? []) events.add(id)
    }
    if (places.size > 0)
      state.rateOf = ratesRead(await flight(client, rateQuestions(org_id, order, [...places.values()])))
    if (events.size === 0) continue
    const { rows } = await flight(client, { rows: ask<BookedRateRow>(READ_BOOKED_RATES, [org_id, [...events]]) })
    state.booked = new BookedRates(rows)
  }
}

/** Whether the item may revise a recorded conversion in another currency. */
const hasForeignAmount = (item: Item): boolean =>
  item.kind === 'revision' ? item.foreign !== undefined : item.kind === 'conversion' && item.money !== undefined

function placeOf(item: Item, { clicks }: OrganizationState, at: string): CurrencyDay | undefined {
  if (item.kind === 'rise') return undefined
  if (item.kind === 'conversion') {
    const click = clicks.get(item.click_id)
    return click === undefined ? undefined : inheritedIn(item, click, at)
  }
  const { foreign, received_at } = item
  return foreign === undefined ? undefined : { currency: foreign.currency, day: dayReceived(received_at, at) }
}
