/** In which currencies a click's cost is understood: the one place that says so. Owns no table. */

/**
 * US dollars for one unit of a currency (three capital letters) on a UTC day, to an organization, as a decimal string of up to 20 decimals.
 * Undefined where no rate is known: such an amount is no cost. Answers from memory, because it is asked while a visitor waits.
 */
export type UsdPerUnit = (org_id: number, currency: string, day: string) => string | undefined

/** Knows no rates: US dollars are what they are. */
export const usdAlone: UsdPerUnit = (_org_id, currency) => (currency === 'USD' ? '1' : undefined)
