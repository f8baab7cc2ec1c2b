/** What is said of a conversion that was sent again: the stored row stands, and may not be what was sent this time. */
import { Amount, MAX_PAYOUT, toSixPlaces } from '../../contract/fields.ts'
import type { Warning } from '../../contract/warnings.ts'

const Payout = Amount(MAX_PAYOUT)

/** That a payout differs from the one on record, with both; nothing where none was sent. `stored` is a decimal or null for none. */
export function payoutWarnings(sent: unknown, stored: string | null): Warning[] {
  const read = Payout.safeParse(sent)
  if (!read.success || (stored !== null && toSixPlaces(stored) === read.data)) return []
  const message = `${read.data} was sent, and ${stored === null ? 'no payout' : toSixPlaces(stored)} is recorded and stays. If this is another conversion, send it with a nonce of its own.`
  return [{ code: 'payout_differs', field: 'payout', message }]
}
