/**
 * Normalizes and hashes personal data as the platforms require for matching: SHA-256 in lower-case hexadecimal of the normalized value. A value
 * that cannot be normalized is left out, because its hash would match nobody.
 */
import { hash } from 'node:crypto'

/** 64 lower-case hexadecimal digits. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}

/** An email address trimmed and in lower case, or null if it is not one. */
export function normalEmail(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const email = value.trim().toLowerCase()
  return /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(email) ? email : null
}

/** An email address as Google hashes it: without dots in the name of a Gmail address. */
export function googleEmail(value: unknown): string | null {
  const [name = '', domain = ''] = normalEmail(value)?.split('@') ?? []
  if (name === '') return null
  return /^(gmail|googlemail)\.com$/.test(domain) ? `${name.replaceAll('.', '')}@${domain}` : `${name}@${domain}`
}

/**
 * The digits of an international phone number, without `+` or leading zeros. Meta hashes them like that, TikTok and Google with a `+` in front.
 * Null for a national number, whose country is unknown.
 */
export function phoneDigits(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null
  const text = String(value)
    .replace(/\(0\)/g, '')
    .replace(/[\s().\-/]/g, '')
  const digits = /^(?:\+|00)?([1-9]\d{6,14})$/.exec(text)?.[1]
  return digits ?? null
}

/** The hash of a value, or null. */
export function hashed(value: string | null): string | null {
  return value === null ? null : sha256(value)
}
