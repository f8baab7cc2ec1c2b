/** Keeps a fault that repeats from filling the log: a line a second, which says how often it happened, and its stack only in the first one. */
import { LRUCache } from 'lru-cache'
import type { LogFn, LoggerOptions } from 'pino'

const WARN = 40
/** Faults of a kind that repeats within this time are written without a stack. */
const MEMORY_MS = 60_000
/** More kinds than the code has messages, because errors without a code are told apart by their words. */
const MOST_KINDS = 500

type Line = { readonly fields: { readonly err: unknown }; readonly write: (fields: object) => void }
/** `waiting`: the last line that was held back, of `times` lines. */
type FaultKind = { rests_until: number; times: number; waiting: Line | undefined }

/** The hook of the log. Lines of a warning or an error with `err` are of one kind if they have the same text, and the same code or words of `err`. */
export function holdRepeatedFaults(pause_ms: number): NonNullable<LoggerOptions['hooks']> {
  const kinds = new LRUCache<string, FaultKind>({ max: MOST_KINDS, ttl: MEMORY_MS })
  const writeLine = (kind: FaultKind, { fields, write }: Line) => {
    const times = kind.times > 1 ? { times: kind.times } : {}
    write({ ...fields, err: withoutStack(fields.err), ...times })
    Object.assign(kind, { rests_until: performance.now() + pause_ms, times: 0, waiting: undefined })
  }
  const again = (key: string, kind: FaultKind, line: Line) => {
    kinds.set(key, kind)
    kind.times += 1
    const rest_ms = kind.rests_until - performance.now()
    if (kind.waiting === undefined && rest_ms <= 0) return writeLine(kind, line)
    if (kind.waiting === undefined) setTimeout(() => writeLine(kind, kind.waiting ?? line), rest_ms).unref()
    kind.waiting = line
  }
  return {
    logMethod(args, method, level) {
      const [fields, text] = args as unknown as [unknown, unknown]
      if (level < WARN || typeof text !== 'string' || !hasError(fields)) return method.apply(this, args)
      const key = `${text}\n${kindOf(fields.err)}`
      const kind = kinds.get(key)
      const write = (changed: object) => method.apply(this, [changed, text] as unknown as Parameters<LogFn>)
      if (kind !== undefined) return again(key, kind, { fields, write })
      kinds.set(key, { rests_until: performance.now() + pause_ms, times: 0, waiting: undefined })
      write(fields)
    },
  }
}

const hasError = (fields: unknown): fields is { err: unknown } =>
  typeof fields === 'object' && fields !== null && 'err' in fields

function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}

/** In the form of the log's serializer. */
function withoutStack(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  return { type: error.name, message: error.message, ...('code' in error ? { code: error.code } : {}) }
}
