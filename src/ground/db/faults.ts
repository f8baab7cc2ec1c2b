// What a failed statement means. Decided by SQLSTATE alone: a sharded database names no constraint and no table.
import pg from 'pg'

/** The five characters of PostgreSQL's own error code, or undefined for an error that did not come from the server. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

const UNIQUE_VIOLATION = '23505'

/** True when a row with the same key is there already. */
export function isTaken(error: unknown): boolean {
  return sqlState(error) === UNIQUE_VIOLATION
}

/** A table or a type of this name, or a key of the catalog, which two that make one at once meet on in spite of `if not exists`. */
const THERE_STATES = new Set(['42P07', '42710', UNIQUE_VIOLATION])

/** True when what a statement was to make has been made already. */
export function isThereAlready(error: unknown): boolean {
  return THERE_STATES.has(sqlState(error) ?? '')
}

/** What a node of a cluster says of anything another one has answered while rows were copied to it: what that was is lost. */
const UNSAID = 'XX000'

/**
 * No disk, no memory or no connection is left, the disk failed, or the server only reads, is going down, coming up, or has dropped the session.
 * `UNSAID` is also what a node of a cluster says whose connection to another one broke in the midst of a transaction.
 */
const unreachableStates = new Set([
  '53100',
  '53200',
  '53300',
  '58030',
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '25006',
  '25P03',
  '25P04',
  UNSAID,
])

/**
 * True when the database did not answer, or answers nobody: nobody listens, the connection broke, the wait for it ended, its disk is
 * full. Whether the statement took effect is then unknown. False for every answer that is about the statement itself.
 */
export function isUnreachable(error: unknown): boolean {
  const state = sqlState(error)
  if (state !== undefined) return state.startsWith('08') || unreachableStates.has(state)
  if (!(error instanceof Error)) return false
  if ('code' in error && typeof error.code === 'string') return /^E[A-Z]+$/.test(error.code)
  return /^connection |not queryable|timeout|end on the pool/i.test(error.message)
}

/** True when a cluster does not say what was wrong: a key that is taken, a row that cannot be, or a node that went away. */
export function isUnsaid(error: unknown): boolean {
  return sqlState(error) === UNSAID
}

/** Cancelled by its timeout, or a lock was not to be had in time. */
const OUT_OF_TIME = new Set(['57014', '55P03'])

/** True when the database gave a statement up because it took too long or waited for someone else: nothing of it took effect. */
export function isOutOfTime(error: unknown): boolean {
  return OUT_OF_TIME.has(sqlState(error) ?? '')
}

/** True when the same transaction may succeed if it is simply run again: serialization failure, deadlock, lost worker. */
export function isRetryable(error: unknown): boolean {
  const state = sqlState(error)
  return state === '40001' || state === '40P01' || state === '08006'
}

/**
 * True when the failure is that of the rows themselves: classes 22 data exception, 23 constraint violation, 54 program limit exceeded, or
 * what this process or the driver cannot write. All else is the database's, and the same rows can be stored later.
 */
export function isOwnFault(error: unknown): boolean {
  const state = sqlState(error)
  return state === undefined ? !isUnreachable(error) : /^(22|23|54)/.test(state)
}
