/** Reads the header Retry-After: seconds, or a date. */

/** Milliseconds from now; undefined if the value is not readable or in the past. */
export function retryAfter_ms(value: unknown, now = Date.now()): number | undefined {
  if (typeof value !== 'string') return undefined
  const ms = /^\d{1,9}$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - now
  return ms > 0 ? ms : undefined
}
