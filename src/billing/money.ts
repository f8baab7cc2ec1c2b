/** Exact amounts: decimal strings outside, whole millionths of a dollar while they are added up. */

const DECIMALS = 6
const ONE = 10n ** BigInt(DECIMALS)
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/

/** A decimal string in millionths; what is finer is rounded half up, away from zero for negative amounts. */
export function toMillionths(text: string): bigint {
  const [, minus, whole, fraction = ''] = DECIMAL.exec(text) ?? []
  if (whole === undefined) throw new RangeError(`no amount: ${text}`)
  const up = (fraction[DECIMALS] ?? '0') >= '5' ? 1n : 0n
  const amount = BigInt(whole + fraction.slice(0, DECIMALS).padEnd(DECIMALS, '0')) + up
  return minus === '-' ? -amount : amount
}

/** Millionths as a decimal string without trailing zeros. */
export function fromMillionths(amount: bigint): string {
  const size = amount < 0n ? -amount : amount
  const fraction = (size % ONE).toString().padStart(DECIMALS, '0').replace(/0+$/, '')
  return `${amount < 0n ? '-' : ''}${size / ONE}${fraction === '' ? '' : `.${fraction}`}`
}
