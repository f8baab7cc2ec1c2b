/** Finds countries by code or by the names that people type. */

import { COUNTRIES } from '../../../contract/countries.ts'

const normalized = (name: string): string =>
  name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/&/g, 'and')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** Country codes by name: in English, short and long, and in the browser's languages. */
const byName = new Map<string, string>()
for (const code of COUNTRIES.keys())
  for (const languages of ['en', ...navigator.languages])
    for (const style of ['long', 'short'] as const) {
      const name = new Intl.DisplayNames(languages, { type: 'region', fallback: 'none', style }).of(code)
      if (name !== undefined && !byName.has(normalized(name))) byName.set(normalized(name), code)
    }
for (const [name, code] of [
  ['uk', 'GB'],
  ['great britain', 'GB'],
  ['usa', 'US'],
  ['turkey', 'TR'],
  ['czech republic', 'CZ'],
] as const)
  byName.set(name, code)

/** The code of a country by its code or name; undefined if there is no such country. */
export function codeOf(text: string): string | undefined {
  const code = text.trim().toUpperCase()
  return COUNTRIES.has(code) ? code : byName.get(normalized(text))
}

/** A country whose name begins with the same three letters. */
export function countryLike(text: string): string | undefined {
  const start = normalized(text).slice(0, 3)
  return start.length < 3 ? undefined : [...COUNTRIES.values()].find(name => normalized(name).startsWith(start))
}
