/**
 * Last-used times for a column of a list. They are written in batches after the calls, at most once a minute per thing. If a write fails, a list
 * shows an older time; nothing else is lost.
 */
import { MINUTE_MS } from '../contract/days.ts'

const EVERY_MS = MINUTE_MS
/** At this many the memory is cleared; each takes a few dozen bytes. */
const MOST_KEPT = 100_000

/** A thing, and when it was last used (ISO 8601). */
type LastTime<Thing> = Thing & { readonly at: string }

export type LastTimes<Thing> = {
  /** Notes a use now. Never waits, never throws. */
  note(thing: Thing): void
  /** Waits for the pending writes. */
  close(): Promise<void>
}

type LastTimesOptions<Thing> = {
  /** Writes a batch. Times come in the order of their ids, so that all processes lock rows in the same order. */
  readonly write: (times: readonly LastTime<Thing>[]) => Promise<unknown>
  readonly onError: (error: unknown) => void
  /** For tests. */
  readonly every_ms?: number | undefined
}

/** Opens the last-used times of one kind of thing. */
export function openLastTimes<Thing extends { readonly id: string }>({
  write,
  onError,
  every_ms = EVERY_MS,
}: LastTimesOptions<Thing>): LastTimes<Thing> {
  const noted = new Map<string, number>()
  let waiting = new Map<string, LastTime<Thing>>()
  let writing: Promise<void> | undefined

  const writeAll = async () => {
    while (waiting.size > 0) {
      const times = [...waiting.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
      waiting = new Map()
      await write(times).catch(onError)
    }
    writing = undefined
  }

  return {
    note(thing) {
      const now = Date.now()
      const last = noted.get(thing.id)
      if (last !== undefined && now - last < every_ms) return
      if (noted.size >= MOST_KEPT) noted.clear()
      noted.set(thing.id, now)
      waiting.set(thing.id, { ...thing, at: new Date(now).toISOString() })
      writing ??= writeAll()
    },
    close: async () => writing,
  }
}
