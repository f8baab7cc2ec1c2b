/** The retry schedule of failed deliveries. */
import { HOUR_MS, MINUTE_MS } from '../../contract/days.ts'

/** The waits in ms after the first, second … failed attempt. The delivery fails after the attempt that follows the last wait. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  10 * HOUR_MS,
]

const JITTER = 0.2

/**
 * The wait in ms after failed attempt `number` (the first is 1), or undefined after the last one. ±20 % by `random` (0 to 1). A `Retry-After` replaces
 * it, limited to between once and twice the wait.
 */
export function delayAfter(
  number: number,
  {
    delays = RETRY_DELAYS_MS,
    retry_after_ms,
    random = Math.random(),
  }: { delays?: readonly number[]; retry_after_ms?: number | undefined; random?: number } = {},
): number | undefined {
  const delay = delays[number - 1]
  if (delay === undefined) return undefined
  if (retry_after_ms !== undefined) return Math.min(Math.max(retry_after_ms, delay), 2 * delay)
  return Math.round(delay * (1 + JITTER * (2 * random - 1)))
}

/** The wait in ms of a Retry-After header, in seconds or as a date; undefined if it is neither. */
export function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  const time = Date.parse(header)
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now())
}
