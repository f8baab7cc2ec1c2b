/**
 * What is told about a person, in the one form each platform matches by: SHA-256 in lower-case hexadecimal over the normalized value. A
 * hash of anything else matches nobody, so what cannot be normalized is left out.
 */
import { hash } from 'node:crypto'

/** 64 lower-case hexadecimal digits. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}

/** An address without spaces around it and in lower case, or null where it is none. */
export function normalEmail(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const email = value.trim().toLowerCase()
  return /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(email) ? email : null
}

/** Google takes addresses of its own mail without the dots that it does not tell apart itself. */
export function googleEmail(value: unknown): string | null {
  const [name = '', domain = ''] = normalEmail(value)?.split('@') ?? []
  if (name === '') return null
  return /^(gmail|googlemail)\.com$/.test(domain) ? `${name.replaceAll('.', '')}@${domain}` : `${name}@${domain}`
}

/**
 * The digits of an international number, without `+` or leading zeros: Meta hashes them so, TikTok and Google with the `+` before
 * them. Null for a national number, whose country nobody has said.
 */
export function phoneDigits(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null
  const text = String(value)
    .replace(/\(0\)/g, '')
    .replace(/[\s().\-/]/g, '')
  const digits = /^(?:\+|00)?([1-9]\d{6,14})$/.exec(text)?.[1]
  return digits ?? null
}

/** The hash of a value, where there is one. */
export function hashed(value: string | null): string | null {
  return value === null ? null : sha256(value)
}
