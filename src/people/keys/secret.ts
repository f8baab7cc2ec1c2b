/**
 * The secret of a key: `sluice_`, 43 base62 characters (256 bits), then a CRC-32 of all that in 6 characters. The checksum only helps
 * secret scanners and catches typing errors. Only the SHA-256 is stored: 256 random bits need no slow hash.
 */
import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX = 'sluice_'
const FORM = /^sluice_[0-9A-Za-z]{49}$/
/** The length of the part that lists may show: the prefix and four characters. */
const SHOWN_LENGTH = PREFIX.length + 4

/** A new secret. It is shown once and not stored. */
export function newSecret(): string {
  const body = PREFIX + Array.from({ length: 43 }, () => ALPHABET[randomInt(62)]).join('')
  return body + checksum(body)
}

/** Whether the text has the form and the checksum of a secret. */
export function hasSecretForm(text: string): boolean {
  return FORM.test(text) && text.slice(-6) === checksum(text.slice(0, -6))
}

/** The SHA-256 of a secret, which is stored in its place. A random secret needs no salt. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** The part of a secret that lists show. */
export function firstCharacters(secret: string): string {
  return secret.slice(0, SHOWN_LENGTH)
}

function checksum(body: string): string {
  let rest = crc32(body)
  let digits = ''
  for (let place = 0; place < 6; place += 1) {
    digits = ALPHABET[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
