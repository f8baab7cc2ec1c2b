/** Caches of the entries that were used last. */
import { LRUCache } from 'lru-cache'

/**
 * A cache of at most `most` entries, each for `ttl` milliseconds if it is given. Its memory grows with its entries. LRUCache's own `max` takes the memory of
 * all entries at once, which made each start slower.
 */
export const keepRecent = <Value extends {}>(most: number, options: { readonly ttl?: number } = {}) =>
  new LRUCache<string, Value>({ ...options, maxSize: most, sizeCalculation: () => 1 })
