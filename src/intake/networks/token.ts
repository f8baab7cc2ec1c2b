/** The secret part of a postback address. Lower-case letters and digits only, because networks change case and people read it aloud. */
import { hash, randomBytes } from 'node:crypto'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 32

/** 160 random bits. */
export function newToken(): string {
  return Array.from(randomBytes(LENGTH), byte => ALPHABET[byte & 31]).join('')
}

/** Whether it is worth looking for; what it was made of is not checked. */
export function hasTokenForm(text: string): boolean {
  return text.length === LENGTH
}

/** What a token is recognized by, in any case. */
export const hashToken = (token: string): Buffer => hash('sha256', token.toLowerCase(), 'buffer')
