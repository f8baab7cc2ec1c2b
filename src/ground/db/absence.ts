// When the database was last away, as this process has seen it. What other processes kept meanwhile comes back a moment later.

/** Long enough that another process has stored what it kept, short enough that nobody is told to come again for long. */
const AFTERMATH_MS = 30_000
/** Until a database that hangs is given up on, and what the clocks of processes may differ by. */
const BEFORE_MS = 10_000

export type Absence = {
  /** The database was not reached, or a connection was lost, just now. */
  note(): void
  /** Since when (Unix ms) something may not have reached the database that others were told of; undefined when all has. */
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
