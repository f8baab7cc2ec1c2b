/** Recovery codes, each of which replaces a lost app or passkey once. They are stored encrypted and shown only when they are made. */
import { randomBytes } from 'node:crypto'
import type { Secrets } from '../../ground/db/secrets.ts'

const CODES = 10
/** 10 letters of 5 bits make 50 bits, which cannot be guessed at ten attempts per quarter of an hour. */
const LETTERS = 10
/** Without letters that are easily confused in handwriting. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Ten new codes of the form `xxxxx-xxxxx`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, () => normalizeCode(toCodeLetters(randomBytes(LETTERS))))
}

/** One letter of the code alphabet for each byte. */
export const toCodeLetters = (bytes: Buffer): string =>
  Array.from(bytes, byte => ALPHABET[byte % ALPHABET.length]).join('')

/** A typed code in the form it was made in: lower case, with its hyphen, and with `o`, `i` and `l` read as digits. */
export function normalizeCode(typed: string): string {
  const letters = typed
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replaceAll('o', '0')
    .replace(/[il]/g, '1')
  return `${letters.slice(0, LETTERS / 2)}-${letters.slice(LETTERS / 2)}`
}

/** Encrypts and decrypts the codes for the sign-in library, with the installation's own secrets. */
export function codeEncryption(secrets: Pick<Secrets, 'seal' | 'open'>) {
  return {
    encrypt: async (codes: string) => secrets.seal(codes).toString('base64'),
    decrypt: async (sealed: string) => secrets.open(Buffer.from(sealed, 'base64')),
  }
}
