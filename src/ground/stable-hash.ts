/**
 * Hashes that are the same in every process and for ever: what visitors are given is decided by them, so a change here would take
 * people from the landing, the offer or the branch they have had. Neither is for secrets.
 */

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** FNV-1a over the characters of a text: 32 bits. `start` is the hash of what stands before it. */
export function hashOf(text: string, start = FNV_OFFSET): number {
  let hash = start
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  return hash >>> 0
}

/** The finalizer of MurmurHash3: without it, the last characters of a text would barely reach the high bits. */
export function mixed(bits: number): number {
  let hash = bits
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
