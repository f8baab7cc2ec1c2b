// The meaning of a failed statement, decided by SQLSTATE alone: a sharded database names no constraint and no table.
import pg from 'pg'

/** PostgreSQL's five-character error code, or undefined for an error that did not come from the server. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

const UNIQUE_VIOLATION = '23505'

/** True if a row with the same key exists. */
export function isTaken(error: unknown): boolean {
  return sqlState(error) === UNIQUE_VIOLATION
}

/** A table or a type of this name, or a catalog key, which two processes collide on in spite of `if not exists`. */
const THERE_STATES = new Set(['42P07', '42710', UNIQUE_VIOLATION])

/** True if the object that a statement was to create exists. */
export function isThereAlready(error: unknown): boolean {
  return THERE_STATES.has(sqlState(error) ?? '')
}

/** A cluster node's code for any error of another node while rows are copied to it; the original code is lost. */
const UNSAID = 'XX000'

/**
 * No disk space, memory or connection is left, the disk failed, or the server is read-only, shutting down, starting, or has ended the session.
 * A cluster node also returns `UNSAID` if its connection to another node breaks within a transaction.
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
 * True if the database cannot be reached or cannot work: connection refused or broken, timeout, disk full. Whether the statement took effect is then
 * unknown. False for every error about the statement itself.
 */
export function isUnreachable(error: unknown): boolean {
  const state = sqlState(error)
  if (state !== undefined) return state.startsWith('08') || unreachableStates.has(state)
  if (!(error instanceof Error)) return false
  if ('code' in error && typeof error.code === 'string') return /^E[A-Z]+$/.test(error.code)
  return /^connection |not queryable|timeout|end on the pool/i.test(error.message)
}

/** True if a cluster does not name the error: it may be a taken key, an invalid row, or a node that went away. */
export function isUnsaid(error: unknown): boolean {
  return sqlState(error) === UNSAID
}

/** True if a cluster's node answers that it could not reach another node, or lost its connection to it. */
export function isOfAnotherNode(error: unknown): boolean {
  return isUnsaid(error) || sqlState(error)?.startsWith('08') === true
}

/** Statement timeout and lock timeout. */
const OUT_OF_TIME = new Set(['57014', '55P03'])

/** True if the database cancelled a statement because it took too long or waited too long for a lock. It had no effect. */
export function isOutOfTime(error: unknown): boolean {
  return OUT_OF_TIME.has(sqlState(error) ?? '')
}

/** True if the same transaction may succeed when it is run again: serialization failure, deadlock, lost worker. */
export function isRetryable(error: unknown): boolean {
  const state = sqlState(error)
  return state === '40001' || state === '40P01' || state === '08006'
}

/**
 * True if the rows themselves are at fault: classes 22 data exception, 23 constraint violation, 54 program limit exceeded, or an error of this process
 * or the driver. For any other error the same rows can be stored later.
 */
export function isOwnFault(error: unknown): boolean {
  const state = sqlState(error)
  return state === undefined ? !isUnreachable(error) : /^(22|23|54)/.test(state)
}
