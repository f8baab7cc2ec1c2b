/** Payment amounts in words. */
import { signOf } from '../../ground/figures/figures.ts'

const plain = new Intl.NumberFormat('en-US', { maximumFractionDigits: 4 })

/** `amount` is a decimal string in `currency`; XTR means Telegram Stars. */
export function amountWords(amount: string, currency: string): string {
  const figure = plain.format(amount as Intl.StringNumericLiteral)
  return currency === 'XTR' ? `${figure} Stars` : `${signOf(currency)}${figure}`
}
