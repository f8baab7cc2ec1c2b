/** Rates for the costs of clicks. Owns no table. */

/**
 * US dollars for one unit of a currency (three capital letters) on a UTC day, for an organization, as a decimal string of up to 20 decimals.
 * Undefined if no rate is known; the click then has no cost. Reads memory only, because a visitor is waiting.
 */
export type UsdPerUnit = (org_id: number, currency: string, day: string) => string | undefined

/** Knows only US dollars. */
export const usdAlone: UsdPerUnit = (_org_id, currency) => (currency === 'USD' ? '1' : undefined)
