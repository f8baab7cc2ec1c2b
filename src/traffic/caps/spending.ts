/**
 * Reports the cost of clicks to caps on cost. Each process adds up its clicks and reports whole cents every few seconds; the rest of a cent waits
 * for the next report. So such a cap is some seconds late, and a crash loses a few seconds of cost: it limits spending but is no account of it.
 */
import { toUnits } from '../../contract/decimals.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds } from '../../ground/rounds.ts'
import type { LiveCap } from '../campaigns/live.ts'
import { NothingWritten, reportCapUse } from './lease.ts'
import { periodAt } from './period.ts'

const REPORT_MS = 2000
/** The decimal places of a click's cost. */
const PLACES = 9
const UNITS_OF_CENT = toUnits('0.01', PLACES)

type UnreportedCost = { readonly org_id: number; readonly cap_id: string; readonly period_start: string; units: bigint }

export type Spending = {
  /** Adds the cost of a click, a decimal string in dollars, to each of the caps. `ms` is the time of the click. */
  note(caps: readonly LiveCap[], cost: string, ms: number): void
  /** Reports the rest. */
  close(): Promise<void>
}

/** Starts to add up and report. */
export function openSpending({ db, log }: Pick<Ground, 'db' | 'log'>): Spending {
  const unreported = new Map<string, UnreportedCost>()
  const onError = (error: unknown) => log.warn({ err: error }, 'could not report the cost of clicks to caps; retrying')
  const report = async () => {
    for (const [key, spent] of unreported) {
      const cents = spent.units / UNITS_OF_CENT
      // A failure of one organization's cap must not stop the others.
      if (cents > 0n) await reportCents(spent, cents).catch(onError)
      if (spent.units === 0n) unreported.delete(key)
    }
  }
  const reportCents = async (spent: UnreportedCost, cents: bigint) => {
    const { org_id, cap_id, period_start } = spent
    const used = Number(cents)
    spent.units -= cents * UNITS_OF_CENT
    try {
      await reportCapUse(db, org_id, { cap_id, period_start, used, beyond: 0, returned: 0, wantsMore: false })
    } catch (error) {
      // If it is unknown whether the report was written, it is not repeated.
      if (error instanceof NothingWritten) spent.units += cents * UNITS_OF_CENT
      throw error
    }
  }
  const rounds = openRounds('caps/spending', REPORT_MS, report, onError)
  return {
    note(caps, cost, ms) {
      const units = toUnits(cost, PLACES)
      for (const cap of caps) {
        const { start } = periodAt(cap, ms)
        const key = `${cap.id} ${start}`
        const spent = unreported.get(key) ?? { org_id: cap.org_id, cap_id: cap.id, period_start: start, units: 0n }
        spent.units += units
        unreported.set(key, spent)
      }
    },
    async close() {
      await rounds.close()
      await report()
    },
  }
}
