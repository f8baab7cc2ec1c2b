// Text from outside, as it is stored with clicks and with objects that are compared with clicks.

/** The longest stored text of a source. */
export const TEXT_BYTES = 500

/** Text as PostgreSQL can hold it: without U+0000, well-formed. */
export function faithful(value: string): string {
  const wellFormed = value.toWellFormed()
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '') : wellFormed
}

/** At most `bytes` bytes of UTF-8, cut between two characters. */
export function cut(value: string, bytes: number): string {
  if (value.length * 3 <= bytes) return value
  const encoded = Buffer.from(value)
  if (encoded.length <= bytes) return value
  let end = bytes
  while (((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return encoded.toString('utf8', 0, end)
}
