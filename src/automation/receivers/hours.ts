/** When a message may be sent: at once, behind the quiet hours, or as a part of a digest. Times are Unix ms by the clock of this process. */
import type { MessageBody } from '../../contract/alerts.ts'
import { DAY_MS } from '../../contract/days.ts'
import { nextTimeIn } from '../../contract/time-zones.ts'
import { closedFor } from '../../telegram/broadcasts/hours.ts'
import type { StoredReceiver } from './rows.ts'

/** Longer than any quiet hours, also on a day of 25 hours. */
const LONGEST_QUIET_MS = 2 * DAY_MS

type WaitingMessage = { readonly body: MessageBody; readonly attempts: number; readonly created_at: string }

/** What to do with a message: send it, put it into the digest that is due, or wait. */
type Turn = 'send' | 'collect' | { readonly wait_until: number }

/** The turn of a message now. A test is sent at any time, and a message that was tried once is never collected, because it may have arrived. */
export function turnOf(
  { quiet_hours, digest }: Pick<StoredReceiver, 'quiet_hours' | 'digest'>,
  { body, attempts, created_at }: WaitingMessage,
  now: number,
): Turn {
  if (body.type === 'test') return 'send'
  if (digest !== null && body.type !== 'digest' && attempts === 0) {
    const due = nextTimeIn(digest.time_zone, digest.at, Date.parse(created_at))
    return due <= now ? 'collect' : { wait_until: due }
  }
  const quiet_ms =
    quiet_hours === null ? 0 : closedFor({ window: null, audience: { quiet_hours } }, now, LONGEST_QUIET_MS)
  return quiet_ms === 0 ? 'send' : { wait_until: now + quiet_ms }
}
