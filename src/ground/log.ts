// The log: one JSON line per entry, on standard error, because standard output is for the one who starts Sluice.
import { writeSync } from 'node:fs'
import { type DestinationStream, type Logger, pino } from 'pino'

/** Credentials never reach the log, whoever logs a request or an answer. */
const redact = ['x-api-key', 'cookie', 'authorization', 'set-cookie'].flatMap(name => [
  `["${name}"]`,
  `*["${name}"]`,
  `*.headers["${name}"]`,
])

/** What a log may say of an error: not its other properties, which hold a row's values or a whole connection. */
const err = (error: unknown) => {
  if (!(error instanceof Error)) return error
  const { type, message, stack } = pino.stdSerializers.err(error)
  return { type, message, stack, ...('code' in error ? { code: error.code } : {}) }
}

const STANDARD_ERROR = 2
/** A reader that takes longer than these tries of 10 ms has gone to sleep. */
const TRIES = 20
const clock = new Int32Array(new SharedArrayBuffer(4))

/** A line that cannot be written, on a full disk or to a reader that is gone, is dropped: the log must not end what it is a log of. */
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

/** Opens the log of the process; `level` is one of LOG_LEVEL's. */
export const openLog = (level: string, destination: DestinationStream = standardError): Logger =>
  pino({ level, redact, base: {}, serializers: { err } }, destination)
