/** The header Retry-After: seconds, or a date. */

/** In milliseconds from now on; undefined where it says nothing that can be read, or a time that has passed. */
export function retryAfter_ms(value: unknown, now = Date.now()): number | undefined {
  if (typeof value !== 'string') return undefined
  const ms = /^\d{1,9}$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - now
  return ms > 0 ? ms : undefined
}
