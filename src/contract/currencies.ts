/** Currencies by their codes: ISO 4217, and whatever else a workspace keeps a rate of its own for, such as USDT. */
import { z } from 'zod'

/** What the books are in. */
export const USD = 'USD'

const CODE = /^[A-Z][A-Z0-9]{2,7}$/

/** Whether a text has the form of a code, in capitals; whether there is a rate of it is another matter. */
export const isCurrencyCode = (text: string): boolean => CODE.test(text)

/** A code of three to eight letters and digits, in any case; decodes to capitals. */
export const Currency = z
  .string({ error: 'must be a currency code, such as EUR' })
  .trim()
  .toUpperCase()
  .regex(CODE, { message: 'must be a currency code, such as EUR' })
  .meta({ description: 'Currency code, ISO 4217 or one there is an own rate of', examples: ['EUR'] })

/** What an amount was in another currency, and the rate it was turned into dollars by, once and for good. */
export const OriginalMoney = z
  .object({
    original_amount: z.string().meta({ description: 'In its currency, a decimal string', examples: ['10'] }),
    currency: z.string(),
    usd_per_unit: z.string().meta({ description: 'US dollars for one unit, a decimal string' }),
    rate_day: z.string().meta({ description: 'The UTC day the rate is of' }),
    rate_source: z.string().meta({ description: 'Whose rate it is; own: the workspace’s' }),
  })
  .meta({ id: 'OriginalMoney' })
export type OriginalMoney = z.output<typeof OriginalMoney>
