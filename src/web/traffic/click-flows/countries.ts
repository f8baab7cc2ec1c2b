/** Countries by their code and their names, as people type them. */

import { COUNTRIES } from '../../../contract/countries.ts'

const plain = (name: string): string =>
  name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/&/g, 'and')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** Codes by every name there is for them: in English, in short, and in the languages of the browser. */
const byName = new Map<string, string>()
for (const code of COUNTRIES.keys())
  for (const languages of ['en', ...navigator.languages])
    for (const style of ['long', 'short'] as const) {
      const name = new Intl.DisplayNames(languages, { type: 'region', fallback: 'none', style }).of(code)
      if (name !== undefined && !byName.has(plain(name))) byName.set(plain(name), code)
    }
for (const [name, code] of [
  ['uk', 'GB'],
  ['great britain', 'GB'],
  ['usa', 'US'],
  ['turkey', 'TR'],
  ['czech republic', 'CZ'],
] as const)
  byName.set(name, code)

/** The code of a country that is named by its code or a name; undefined for what is none. */
export function codeOf(text: string): string | undefined {
  const code = text.trim().toUpperCase()
  return COUNTRIES.has(code) ? code : byName.get(plain(text))
}

/** A country whose name begins like this. */
export function countryLike(text: string): string | undefined {
  const begin = plain(text).slice(0, 3)
  return begin.length < 3 ? undefined : [...COUNTRIES.values()].find(name => plain(name).startsWith(begin))
}
