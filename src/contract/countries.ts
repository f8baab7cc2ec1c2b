/** Countries by their two letters, as visitors' addresses are looked up. */

/** Codes that name no country of ISO 3166, though there are words for them. */
const NO_COUNTRY = new Set(['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'QO', 'TA', 'UN', 'XA', 'XB', 'ZZ'])
const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ')

const english = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** The name of each country by its code; codes of the past are left out. */
export const COUNTRIES: ReadonlyMap<string, string> = new Map(
  LETTERS.flatMap(first => LETTERS.map(second => first + second))
    .filter(code => !NO_COUNTRY.has(code) && new Intl.Locale(`und-${code}`).region === code)
    .flatMap(code => {
      const name = english.of(code)
      return name === undefined ? [] : [[code, name] as const]
    })
    .sort(([, a], [, b]) => a.localeCompare(b, 'en')),
)

/**
 * The country that is likely meant by two letters that are none: UK and codes of the past by what stands in their place, else the country of
 * the language they name, as JA. Undefined where nothing is likely.
 */
export function likelyCountry(code: string): string | undefined {
  if (!/^[a-z]{2}$/i.test(code)) return undefined
  const isCountry = (region: string | undefined): region is string => region !== undefined && COUNTRIES.has(region)
  return [new Intl.Locale(`und-${code}`).region, new Intl.Locale(code).maximize().region].find(isCountry)
}
