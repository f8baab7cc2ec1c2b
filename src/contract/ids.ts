/**
 * Ids: a uuid in the database, 26 lower-case Crockford base32 characters on the wire. Any case and the plain uuid form are accepted, because networks
 * change case and people paste either form.
 */

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const HEX_DIGITS = '0123456789abcdef'
const NONE = 255

/** Sorts before every real id, and stands for no id. */
export const NIL_ID = '00000000-0000-0000-0000-000000000000'

export const WIRE_ID_LENGTH = 26

/** The value of each digit by its character code. An array, because every click converts ids and this is the fastest look-up. */
function valuesOf(digits: string): Uint8Array {
  const values = new Uint8Array(128).fill(NONE)
  for (let value = 0; value < digits.length; value += 1) {
    const digit = digits.charAt(value)
    for (const spelling of [digit, digit.toUpperCase()]) values[spelling.charCodeAt(0)] = value
  }
  return values
}

const LETTER_VALUES = valuesOf(ALPHABET)
const HEX_VALUES = valuesOf(HEX_DIGITS)
const WIRE = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const UUID_BARE = /^[0-9a-f]{32}$/

/** The wire form of a uuid. */
export function toWireId(uuid: string): string {
  let out = ''
  // 26 digits of 5 bits hold 130 bits. The two spare bits come first, so the first digit is at most 7.
  let bits = 2
  let rest = 0
  for (let at = 0; at < uuid.length; at += 1) {
    const digit = HEX_VALUES[uuid.charCodeAt(at)] ?? NONE
    if (digit === NONE) continue
    rest = (rest << 4) | digit
    bits += 4
    if (bits >= 5) {
      bits -= 5
      out += ALPHABET[rest >> bits]
      rest &= (1 << bits) - 1
    }
  }
  return out
}

/** The canonical uuid of a wire id in any case, or of a uuid with or without dashes; else undefined. */
export function toUuid(text: string): string | undefined {
  const lower = text.toLowerCase()
  if (WIRE.test(lower)) return fromWire(lower)
  if (UUID.test(lower)) return lower
  if (UUID_BARE.test(lower)) return dashed(lower)
  return undefined
}

function fromWire(lower: string): string {
  let hex = ''
  let rest = 0
  let bits = -2
  for (let at = 0; at < lower.length; at += 1) {
    rest = (rest << 5) | (LETTER_VALUES[lower.charCodeAt(at)] ?? 0)
    bits += 5
    while (bits >= 4) {
      bits -= 4
      hex += HEX_DIGITS[rest >> bits]
      rest &= (1 << bits) - 1
    }
  }
  return dashed(hex)
}

function dashed(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const RANDOM_BYTES = 10

/** Random bytes are fetched for many ids at once, because ten at a time would cost more than the rest of the id. */
const random = new Uint8Array(RANDOM_BYTES * 256)
let used = random.length

/** A new UUIDv7 for any object except a click. `ms` is the Unix time in it. */
export function newId(ms = Date.now()): string {
  if (used === random.length) {
    globalThis.crypto.getRandomValues(random)
    used = 0
  }
  let hex = ms.toString(16).padStart(12, '0')
  for (let at = 0; at < RANDOM_BYTES; at += 1) {
    const byte = random[used + at] ?? 0
    hex += HEX[at === 0 ? (byte & 0x0f) | 0x70 : at === 2 ? (byte & 0x3f) | 0x80 : byte]
  }
  used += RANDOM_BYTES
  return dashed(hex)
}

/** The time in a UUIDv7, Unix ms. */
export function timeOfId(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)
}

/** The smallest possible UUIDv7 of this millisecond, for ranges of ids. */
export function firstIdAt(ms: number): string {
  return dashed(`${Math.max(0, ms).toString(16).padStart(12, '0')}00000000000000000000`)
}

/** The least and the greatest id. Ids must be lower-case uuids, which sort as text as they do in the database. */
export function boundsOf(ids: readonly string[]): [least: string, greatest: string] {
  let [least = '', greatest = ''] = [ids[0], ids[0]]
  for (const id of ids) {
    if (id < least) least = id
    if (id > greatest) greatest = id
  }
  return [least, greatest]
}
