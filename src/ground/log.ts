// The log: one JSON line per entry, on standard error. Standard output is for the person who starts Sluice.
import { writeSync } from 'node:fs'
import { type DestinationStream, type Logger, pino } from 'pino'
import { holdRepeatedFaults } from './repeated-faults.ts'

/** Keeps credentials out of the log when a request or an answer is logged. */
const redact = ['x-api-key', 'cookie', 'authorization', 'set-cookie'].flatMap(name => [
  `["${name}"]`,
  `*["${name}"]`,
  `*.headers["${name}"]`,
])

/** Logs an error without its other properties, which may hold a row's values or a whole connection. */
const err = (error: unknown) => {
  if (!(error instanceof Error)) return error
  const { type, message, stack } = pino.stdSerializers.err(error)
  return { type, message, stack, ...('code' in error ? { code: error.code } : {}) }
}

const STANDARD_ERROR = 2
/** Tries of 10 ms each, after which a reader of standard error that takes nothing is given up on. */
const TRIES = 20
const clock = new Int32Array(new SharedArrayBuffer(4))

/** Drops a line that cannot be written (full disk, reader gone), because a failing log must not end the process. */
const standardError: DestinationStream = {
  write(line) {
    let left = Buffer.from(line)
    for (let tries = 0; left.length > 0 && tries < TRIES; ) {
      try {
        left = left.subarray(writeSync(STANDARD_ERROR, left))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
        tries += 1
        Atomics.wait(clock, 0, 0, 10)
      }
    }
  },
}

/** The shortest time between two lines about the same fault. */
const FAULT_MS = 1000

/** Opens the log of the process; `level` is one of LOG_LEVEL's. */
export const openLog = (
  level: string,
  destination: DestinationStream = standardError,
  fault_ms: number = FAULT_MS,
): Logger => pino({ level, redact, base: {}, serializers: { err }, hooks: holdRepeatedFaults(fault_ms) }, destination)
