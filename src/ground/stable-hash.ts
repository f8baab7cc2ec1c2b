/**
 * Hashes that are the same in every process and for ever. They choose each visitor's landing, offer and branch, so a change here would move
 * visitors to others. Neither hash is for secrets.
 */

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** FNV-1a over the characters of a text: 32 bits. `start` is the hash of the text before it. */
export function stableHashOf(text: string, start = FNV_OFFSET): number {
  let hash = start
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  return hash >>> 0
}

/** The finalizer of MurmurHash3. Without it, the last characters of a text would barely affect the high bits. */
export function mixBits(bits: number): number {
  let hash = bits
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
