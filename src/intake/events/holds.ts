/**
 * Approves conversions whose hold has ended, unless their status changed meanwhile. Uses the organization's queue like every revision, so two
 * processes or two runs approve once.
 */
import type pg from 'pg'
import { MINUTE_MS } from '../../contract/days.ts'
import { Refusal } from '../../contract/refusals.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith } from '../../ground/rounds.ts'
import type { Conversions } from './conversions.ts'

const PORTION = 200

const NEXT = (among: Among) =>
  `select org_id from held_events where org_id > $1 and approve_at <= now()${among('org_id')} order by org_id limit 1`
const DUE = `
  select event_id, click_id, seq from held_events
  where org_id = $1 and approve_at <= now()
  order by approve_at limit ${PORTION}`
// A conversion that can no longer be revised would stay due for ever.
const DROP = 'delete from held_events where org_id = $1 and event_id = $2 and seq = $3'

type DueHold = { event_id: string; click_id: string; seq: number }

type Holds = {
  /** Approves the conversions that are due now. */
  approveDue(): Promise<void>
  /** Finishes the approvals in progress. */
  close(): Promise<void>
}

/** Starts the periodic job; any number of processes may run it. `pause_ms` is for tests. */
export function openHolds(
  { database, log }: Pick<Ground, 'database' | 'log'>,
  conversions: Pick<Conversions, 'revise'>,
  pause_ms = MINUTE_MS,
): Holds {
  const approve = async (signal?: AbortSignal) => {
    for await (const org_id of organizationsWith(NEXT, database.worker, signal))
      while (signal?.aborted !== true && (await approvePortion(database.worker, conversions, org_id)));
  }
  const rounds = openRounds('events/holds', pause_ms, approve, error =>
    log.warn({ err: error }, 'could not approve conversions on hold; retrying'),
  )
  return { approveDue: () => approve(), close: () => rounds.close() }
}

/** True when there may be more. */
async function approvePortion(
  pool: pg.Pool,
  conversions: Pick<Conversions, 'revise'>,
  org_id: number,
): Promise<boolean> {
  const { rows } = await pool.query<DueHold>(DUE, [org_id])
  await Promise.all(
    rows.map(async ({ event_id, click_id, seq }) => {
      try {
        await conversions.revise({
          kind: 'revision',
          org_id,
          click_id,
          of: { event_id },
          status: 'approved',
          amount: undefined,
          reason: null,
          source: 'hold',
          network_id: null,
          actor: null,
          follows: seq,
          arrived_at: performance.now(),
        })
      } catch (error) {
        if (!(error instanceof Refusal) || error.status >= 500) throw error
        await pool.query(DROP, [org_id, event_id, seq])
      }
    }),
  )
  return rows.length === PORTION
}
