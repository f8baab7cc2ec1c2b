// When this process last saw the database away. Other processes store what they kept in their journals a moment after it is back.

/** Long enough for other processes to store their journals, short enough that callers are not asked to retry for long. */
const AFTERMATH_MS = 30_000
/** The time until a database that hangs is given up on, plus the difference between the clocks of processes. */
const BEFORE_MS = 10_000

export type Absence = {
  /** Notes that the database was not reached, or a connection was lost, just now. */
  note(): void
  /** Since when (Unix ms) acknowledged clicks may be missing in the database; undefined if none are. */
  since(): number | undefined
}

/** `now` is the clock, Unix ms. */
export function openAbsence(now = Date.now): Absence {
  let first = 0
  let last: number | undefined
  const isRecent = () => last !== undefined && Math.abs(now() - last) < AFTERMATH_MS
  return {
    note() {
      if (!isRecent()) first = now()
      last = now()
    },
    since: () => (isRecent() ? first - BEFORE_MS : undefined),
  }
}
