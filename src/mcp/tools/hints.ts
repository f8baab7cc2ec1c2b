/** The four hints of each kind of tool, so that none is ever left out. */
import type { Hints } from '../tool.ts'

/** Changes nothing. */
export const READS: Hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

/** Adds a row; twice adds two. */
export const CREATES: Hints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
}

/** Can be taken back by calling it with the other value. */
export const SWITCHES: Hints = { ...CREATES, idempotentHint: true }

/** Cannot be taken back; repeating it changes nothing more. */
export const FINAL: Hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false }

/** Cannot be taken back, and calls addresses outside; repeating it changes nothing more. */
export const FINAL_OUTSIDE: Hints = { ...FINAL, openWorldHint: true }
