/** The four hints for each kind of tool. */
import type { Hints } from '../tool.ts'

/** Changes nothing. */
export const READS: Hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

/** Creates a row. Calling it twice creates two. */
export const CREATES: Hints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
}

/** Can be undone by calling it with the other value. */
export const SWITCHES: Hints = { ...CREATES, idempotentHint: true }

/** Cannot be undone. Repeating it changes nothing more. */
export const FINAL: Hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false }

/** Cannot be undone, and sends data to outside addresses. Repeating it changes nothing more. */
export const FINAL_OUTSIDE: Hints = { ...FINAL, openWorldHint: true }
