/** Currency codes: those of ISO 4217, and others that a workspace has its own rate for, such as USDT. */
import { z } from 'zod'

/** The currency of all stored amounts. */
export const USD = 'USD'

const CODE = /^[A-Z][A-Z0-9]{2,7}$/

/** Whether a text has the form of a code, in capitals. It may still have no rate. */
export const isCurrencyCode = (text: string): boolean => CODE.test(text)

/** A code of three to eight letters and digits, in any case; decodes to capitals. */
export const Currency = z
  .string({ error: 'must be a currency code, such as EUR' })
  .trim()
  .toUpperCase()
  .regex(CODE, { message: 'must be a currency code, such as EUR' })
  .meta({ description: 'Currency code, of ISO 4217 or with a rate of your own', examples: ['EUR'] })

/** An amount in its original currency, and the rate by which it was converted to dollars, once and for all. */
export const OriginalMoney = z
  .object({
    original_amount: z.string().meta({ description: 'In its currency, a decimal string', examples: ['10'] }),
    currency: z.string(),
    usd_per_unit: z.string().meta({ description: 'US dollars for one unit, a decimal string' }),
    rate_day: z.string().meta({ description: 'The UTC day of the rate' }),
    rate_source: z.string().meta({ description: 'Source of the rate; own: the workspace’s own' }),
  })
  .meta({ id: 'OriginalMoney' })
export type OriginalMoney = z.output<typeof OriginalMoney>
