/** Warnings for a conversion that was sent again: the stored row stays, and may differ from the new request. */
import { Amount, MAX_PAYOUT, toSixPlaces } from '../../contract/fields.ts'
import type { Warning } from '../../contract/warnings.ts'

const Payout = Amount(MAX_PAYOUT)

/** A warning with both payouts if the sent payout differs from the stored one. `stored` is a decimal, or null for none. */
export function payoutWarnings(sent: unknown, stored: string | null): Warning[] {
  const read = Payout.safeParse(sent)
  if (!read.success || (stored !== null && toSixPlaces(stored) === read.data)) return []
  const message = `${read.data} was sent, and ${stored === null ? 'no payout' : toSixPlaces(stored)} is recorded and stays. If this is another conversion, send it with a nonce of its own.`
  return [{ code: 'payout_differs', field: 'payout', message }]
}
