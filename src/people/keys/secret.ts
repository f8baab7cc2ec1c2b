/**
 * The secret of a key: `sluice_`, 43 base62 characters (256 bits), 6 of CRC-32 over what precedes them. The checksum
 * serves scanners and typing errors, never trust; only the SHA-256 is stored, since 256 random bits need no slow hash.
 */
import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX = 'sluice_'
const FORM = /^sluice_[0-9A-Za-z]{49}$/
/** How much of a secret lists may show: the prefix and four characters. */
const SHOWN = PREFIX.length + 4

/** A fresh secret. It is shown once and then forgotten. */
export function newSecret(): string {
  const body = PREFIX + Array.from({ length: 43 }, () => ALPHABET[randomInt(62)]).join('')
  return body + checksum(body)
}

/** Whether the text can be a secret at all: its form and its checksum. */
export function hasSecretForm(text: string): boolean {
  return FORM.test(text) && text.slice(-6) === checksum(text.slice(0, -6))
}

/** What is stored of a secret: its SHA-256. Random as it is, it needs no salt. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** What lists show of a secret. */
export function firstCharacters(secret: string): string {
  return secret.slice(0, SHOWN)
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
