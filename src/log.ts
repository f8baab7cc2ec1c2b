// The log: one JSON line per entry, on standard error, because standard output is for the one who starts Sluice.
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

/** Opens the log of the process; `level` is one of LOG_LEVEL's. */
export const openLog = (level: string, destination: DestinationStream = pino.destination(2)): Logger =>
  pino({ level, redact, base: {}, serializers: { err } }, destination)
