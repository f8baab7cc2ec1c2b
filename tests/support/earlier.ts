/**
 * SQL for a time before that of the column, for updates. A cluster refuses the difference of a timestamptz and an interval there, because it
 * depends on the session's time zone.
 */
export const earlier = (column: string, interval: string): string =>
  `((${column} at time zone 'UTC') - interval '${interval}') at time zone 'UTC'`
