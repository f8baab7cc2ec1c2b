/**
 * What clicks have cost, told to the caps on it. Each process adds up its own and tells it every few seconds, in whole cents; the rest of a cent
 * waits for more. So such a cap is some seconds late, and a crash loses as much: it is a brake, no book.
 */
import { toUnits } from '../../contract/decimals.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds } from '../../ground/rounds.ts'
import type { LiveCap } from '../campaigns/live.ts'
import { lease, NotLeased } from './lease.ts'
import { periodAt } from './period.ts'

const TELL_MS = 2000
/** As costs of clicks are kept. */
const PLACES = 9
const UNITS_OF_CENT = toUnits('0.01', PLACES)

type Spent = { readonly org_id: number; readonly cap_id: string; readonly period_start: string; units: bigint }

export type Spending = {
  /** Notes what a click of that moment has cost in dollars, a decimal string, for each of the caps. */
  note(caps: readonly LiveCap[], cost: string, ms: number): void
  /** Tells what is noted. */
  close(): Promise<void>
}

/** Begins to add up, and to tell. */
export function openSpending({ db, log }: Pick<Ground, 'db' | 'log'>): Spending {
  const noted = new Map<string, Spent>()
  const onError = (error: unknown) =>
    log.warn({ err: error }, 'what clicks have cost could not be told to caps; it is tried again')
  const tell = async () => {
    for (const [key, spent] of noted) {
      const cents = spent.units / UNITS_OF_CENT
      // What one cap cannot take now is no affair of the others, whose organizations know nothing of it.
      if (cents > 0n) await tellOf(spent, cents).catch(onError)
      if (spent.units === 0n) noted.delete(key)
    }
  }
  const tellOf = async (spent: Spent, cents: bigint) => {
    const { org_id, cap_id, period_start } = spent
    const used = Number(cents)
    spent.units -= cents * UNITS_OF_CENT
    try {
      await lease(db, org_id, { cap_id, period_start, used, beyond: 0, returned: 0, wantsMore: false })
    } catch (error) {
      // Where it is not known whether it was written it is not told again.
      if (error instanceof NotLeased) spent.units += cents * UNITS_OF_CENT
      throw error
    }
  }
  const rounds = openRounds('caps/spending', TELL_MS, tell, onError)
  return {
    note(caps, cost, ms) {
      const units = toUnits(cost, PLACES)
      for (const cap of caps) {
        const { start } = periodAt(cap, ms)
        const key = `${cap.id} ${start}`
        const spent = noted.get(key) ?? { org_id: cap.org_id, cap_id: cap.id, period_start: start, units: 0n }
        spent.units += units
        noted.set(key, spent)
      }
    },
    async close() {
      await rounds.close()
      await tell()
    },
  }
}
