/** Countries by their two-letter codes. */

/** Codes that are no country of ISO 3166, although Intl has names for them. */
const NO_COUNTRY = new Set(['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'QO', 'TA', 'UN', 'XA', 'XB', 'ZZ'])
const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ')

const english = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** The name of each country by its code, without former codes. */
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
 * The country probably meant by two letters that are no country code: the successor of a former code or of UK, else the country of a language code
 * such as JA. Undefined if there is none.
 */
export function likelyCountry(code: string): string | undefined {
  if (!/^[a-z]{2}$/i.test(code)) return undefined
  const isCountry = (region: string | undefined): region is string => region !== undefined && COUNTRIES.has(region)
  return [new Intl.Locale(`und-${code}`).region, new Intl.Locale(code).maximize().region].find(isCountry)
}
