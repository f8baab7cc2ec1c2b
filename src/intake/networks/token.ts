/** The secret token of a postback URL. Lower-case letters and digits only, because some networks change case. */
import { hash, randomBytes } from 'node:crypto'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 32

/** 160 random bits. */
export function newToken(): string {
  return Array.from(randomBytes(LENGTH), byte => ALPHABET[byte & 31]).join('')
}

/** Whether a text has the length of a token; its characters are not checked. */
export function hasTokenForm(text: string): boolean {
  return text.length === LENGTH
}

/** The hash by which a token is found, in upper or lower case. */
export const hashToken = (token: string): Buffer => hash('sha256', token.toLowerCase(), 'buffer')
