/**
 * When something last happened, for a column of a list: written behind the calls, at most once in a while for each thing, all things
 * of a moment together. A failure costs nobody anything but a stale time in a list.
 */
import { MINUTE_MS } from '../contract/days.ts'

const EVERY_MS = MINUTE_MS
/** Things remembered between two sweeps; each is a few dozen bytes. */
const MOST_KEPT = 100_000

/** A thing, and when it happened last (ISO 8601). */
type LastTime<Thing> = Thing & { readonly at: string }

export type LastTimes<Thing> = {
  /** Notes that it happens now. Never waits, never throws. */
  note(thing: Thing): void
  /** Writes what is left. */
  close(): Promise<void>
}

type Setup<Thing> = {
  /** Is given the times in the order of the ids, so that two processes lock the rows in one order. */
  readonly write: (times: readonly LastTime<Thing>[]) => Promise<unknown>
  readonly onError: (error: unknown) => void
  /** For tests. */
  readonly every_ms?: number | undefined
}

/** Opens the notes of one kind of thing. */
export function openLastTimes<Thing extends { readonly id: string }>({
  write,
  onError,
  every_ms = EVERY_MS,
}: Setup<Thing>): LastTimes<Thing> {
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
