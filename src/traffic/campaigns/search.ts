// Searches the database for campaign keys that are not in memory, and limits what invented keys can cost.
import { keepRecent } from '../../ground/recent.ts'
import type { LiveCampaignRow } from './live-rows.ts'
import type { LiveCampaign } from './memory.ts'

const KEY = /^[a-z0-9-]{1,64}$/
/** An unknown key is looked up once in this time; all unknown keys together cost one statement at a time. */
const UNKNOWN_KEPT_MS = 3000
const MOST_UNKNOWN = 20_000
const MOST_ASKED_AT_ONCE = 500

type FoundCampaign = LiveCampaign | undefined

/** Returns a search for the campaign of a key. Searches that wait are sent together. It never rejects. */
export function searcher(
  ask: (keys: string[]) => Promise<LiveCampaignRow[]>,
  remember: (row: LiveCampaignRow) => LiveCampaign,
): (key: string) => Promise<FoundCampaign> {
  const unknown = keepRecent<true>(MOST_UNKNOWN, { ttl: UNKNOWN_KEPT_MS })
  let searches = new Map<string, PromiseWithResolvers<FoundCampaign>>()
  let isAsking = false

  const askAll = async () => {
    if (isAsking || searches.size === 0) return
    isAsking = true
    const waiting = searches
    searches = new Map()
    try {
      const rows = new Map((await ask([...waiting.keys()])).map(row => [row.key, row]))
      for (const [key, { resolve }] of waiting) {
        const row = rows.get(key)
        if (row === undefined) unknown.set(key, true)
        resolve(row && remember(row))
      }
    } catch {
      // The next refresh logs why the database did not answer. Visitors do not wait for it.
      for (const { resolve } of waiting.values()) resolve(undefined)
    }
    isAsking = false
    void askAll()
  }

  return key => {
    if (!KEY.test(key) || unknown.has(key)) return Promise.resolve(undefined)
    const underWay = searches.get(key)
    if (underWay !== undefined) return underWay.promise
    // In a flood of invented keys no visitor waits for the database. The next poll finds a new campaign.
    if (searches.size >= MOST_ASKED_AT_ONCE) return Promise.resolve(undefined)
    const search = Promise.withResolvers<FoundCampaign>()
    searches.set(key, search)
    void askAll()
    return search.promise
  }
}
