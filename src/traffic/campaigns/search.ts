// Looking for the campaigns of keys that are not in memory, without letting invented ones at the database.
import { LRUCache } from 'lru-cache'
import type { CampaignRow } from './lately.ts'
import type { LiveCampaign } from './memory.ts'

const KEY = /^[a-z0-9-]{1,64}$/
/** Invented keys cost one look-up every few seconds, and all of them together one statement at a time. */
const UNKNOWN_KEPT_MS = 3000
const MOST_UNKNOWN = 20_000
const MOST_ASKED_AT_ONCE = 500

type Found = LiveCampaign | undefined

/** Asks for the campaigns of keys, those that wait at once, and remembers what is found. The search never rejects. */
export function searcher(
  ask: (keys: string[]) => Promise<CampaignRow[]>,
  remember: (row: CampaignRow) => LiveCampaign,
): (key: string) => Promise<Found> {
  const unknown = new LRUCache<string, true>({ max: MOST_UNKNOWN, ttl: UNKNOWN_KEPT_MS })
  let asked = new Map<string, PromiseWithResolvers<Found>>()
  let isAsking = false

  const askAll = async () => {
    if (isAsking || asked.size === 0) return
    isAsking = true
    const waiting = asked
    asked = new Map()
    try {
      const rows = new Map((await ask([...waiting.keys()])).map(row => [row.key, row]))
      for (const [key, { resolve }] of waiting) {
        const row = rows.get(key)
        if (row === undefined) unknown.set(key, true)
        resolve(row && remember(row))
      }
    } catch {
      // Whatever keeps the database from answering is said by the next refresh; a visitor is not kept waiting for it.
      for (const { resolve } of waiting.values()) resolve(undefined)
    }
    isAsking = false
    void askAll()
  }

  return key => {
    if (!KEY.test(key) || unknown.has(key)) return Promise.resolve(undefined)
    const already = asked.get(key)
    if (already !== undefined) return already.promise
    // In a flood of invented keys nobody waits for the database; a campaign just made is found by the next poll.
    if (asked.size >= MOST_ASKED_AT_ONCE) return Promise.resolve(undefined)
    const waiting = Promise.withResolvers<Found>()
    asked.set(key, waiting)
    void askAll()
    return waiting.promise
  }
}
