/** Codes that stand in for a lost app or passkey, each once. Kept encrypted with the rest of the secrets; shown when they are made, never again. */
import { randomBytes } from 'node:crypto'
import type { Secrets } from '../../ground/db/secrets.ts'

const CODES = 10
/** Of 5 bits each: 50 in all, of which nobody guesses any in ten attempts in a quarter of an hour. */
const LETTERS = 10
/** Nothing that is taken for something else in handwriting. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Ten new codes, `xxxxx-xxxxx`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, () => spelled(lettersOf(randomBytes(LETTERS))))
}

/** The letters of a code, one for each byte. */
export const lettersOf = (bytes: Buffer): string => Array.from(bytes, byte => ALPHABET[byte % ALPHABET.length]).join('')

/** A code as it was made, however it was typed. */
export function spelled(typed: string): string {
  const letters = typed
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replaceAll('o', '0')
    .replace(/[il]/g, '1')
  return `${letters.slice(0, LETTERS / 2)}-${letters.slice(LETTERS / 2)}`
}

/** How the sign-in library keeps them: `seal` and `open` of the installation's own secrets. */
export function sealingOf(secrets: Pick<Secrets, 'seal' | 'open'>) {
  return {
    encrypt: async (codes: string) => secrets.seal(codes).toString('base64'),
    decrypt: async (sealed: string) => secrets.open(Buffer.from(sealed, 'base64')),
  }
}
