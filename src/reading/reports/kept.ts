/**
 * The limits of a report where months of clicks are no longer kept: only the counters of their days are left, so a day counts whole or not at all.
 * Reads `dropped_clicks`.
 */
import type pg from 'pg'
import { DAY_MS, MINUTE_MS, dayOf } from '../../contract/days.ts'
import { timeOfId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Window } from '../../contract/window.ts'
import type { Cover } from './cover.ts'

const FIRST_KEPT = 'select before_id from dropped_clicks order by before_id desc limit 1'

/** The moment (Unix ms) from which on clicks are kept, the start of a UTC month; 0 where all are kept. */
export async function clicksKeptFrom(db: Pick<pg.Pool, 'query'>): Promise<number> {
  const { rows } = await db.query<{ before_id: string }>(FIRST_KEPT)
  return rows[0] === undefined ? 0 : timeOfId(rows[0].before_id)
}

/** Whether a report reads clicks that may be gone. The clicks of this month and the last are always kept, even where clocks differ. */
export function mayBeGone({ ends }: Cover, now: number): boolean {
  const date = new Date(now + DAY_MS)
  const alwaysKept = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 1, 1)
  return ends.some(({ from }) => from < alwaysKept)
}

/** People end a day at 23:59:59, at 23:59, or at midnight, and mean the same. */
const NEAR_MS = MINUTE_MS

/**
 * The window in whole days, or other counted periods of `size_ms`, where its clicks are no longer kept; the same object where nothing changes. A bound
 * within a minute of a midnight is moved there. Refuses `invalid_window` for a bound that cuts such a day.
 */
export function inWholeDays(window: Window, kept_from: number, size_ms = DAY_MS): Window {
  const from = window.from < kept_from ? nearestMidnight(window.from) : window.from
  const to = window.to < kept_from ? nearestMidnight(window.to + 1) - 1 : window.to
  return from === window.from && to === window.to ? window : { from, to }

  function nearestMidnight(ms: number): number {
    const midnight = Math.round(ms / size_ms) * size_ms
    if (Math.abs(ms - midnight) <= NEAR_MS) return midnight
    if (size_ms < DAY_MS)
      refuse('invalid_window', {
        error: `invalid window: the clicks of ${dayOf(ms)} are no longer kept, so its half hours can only be counted whole`,
        hint: `Before ${dayOf(kept_from)}, set date_from and date_to to a half hour.`,
      })
    return refuse('invalid_window', {
      error: `invalid window: the clicks of ${dayOf(ms)} are no longer kept, so that day can only be counted whole`,
      hint: `Before ${dayOf(kept_from)}, set date_from and date_to to midnight UTC; whole days are still counted.`,
    })
  }
}
