/** What was paid, as people say it. */
import { signOf } from '../../ground/figures/figures.ts'

const plain = new Intl.NumberFormat('en-US', { maximumFractionDigits: 4 })

/** `amount` is a decimal string in its currency; XTR is Stars. */
export function amountWords(amount: string, currency: string): string {
  const said = plain.format(amount as Intl.StringNumericLiteral)
  return currency === 'XTR' ? `${said} Stars` : `${signOf(currency)}${said}`
}
