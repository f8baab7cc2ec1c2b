// Later verdicts of the demo's network: some conversions are on hold for days, some are rejected.
import { DAY_MS, HOUR_MS } from '../src/contract/days.ts'
import type { EventStatus } from '../src/contract/revisions.ts'

/** A future revision, with its time. */
export type DemoRevision = {
  event_id: string
  seq: number
  status: EventStatus
  amount: string
  reason: string | null
  network_id: string
  ms: number
}

type NetworkConversion = {
  readonly id: string
  readonly nonce: string | null
  readonly payout: string | null
  readonly ms: number
}

const HELD_DAYS = 4
/** Per hundred: the verdicts and their reasons. */
const REFUSED: readonly [below: number, status: EventStatus, reason: string][] = [
  [5, 'rejected', 'duplicate'],
  [9, 'rejected', 'trash'],
  [10, 'chargeback', 'chargeback'],
]
const OF_HUNDRED_HELD = 40

/** The revisions of a conversion of the network, drawn from its transaction id, so that the demo is the same each time. */
export function revisionsOf(
  { id, nonce, payout, ms }: NetworkConversion,
  network_id: string,
  now: number,
): DemoRevision[] {
  if (payout === null || Number(payout) === 0) return []
  const chance = Number(nonce?.slice(-2))
  const said = (seq: number, status: EventStatus, reason: string, at: number): DemoRevision => {
    const amount = status === 'approved' || status === 'pending' ? payout : '0'
    return { event_id: id, seq, status, amount, reason, network_id, ms: at }
  }
  const refused = REFUSED.find(([below]) => chance < below)
  if (refused !== undefined) {
    const [, status, reason] = refused
    const at = ms + DAY_MS + chance * HOUR_MS
    return at < now ? [said(1, status, reason, at)] : []
  }
  if (chance >= OF_HUNDRED_HELD) return []
  const approved_at = ms + HELD_DAYS * DAY_MS
  const held = said(1, 'pending', 'hold', ms)
  return approved_at < now ? [held, said(2, 'approved', 'approved', approved_at)] : [held]
}
