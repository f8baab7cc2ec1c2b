/** Exact decimals. They are stored as text and computed as whole units of the last place. */

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/

/**
 * A plain decimal in units of its `places`-th place. Further digits are rounded half up, away from zero for negative numbers.
 * @throws RangeError for text that is no plain decimal ("1e3", ".5", " ").
 */
export function toUnits(text: string, places: number): bigint {
  const [, minus, whole, fraction = ''] = DECIMAL.exec(text) ?? []
  if (whole === undefined) throw new RangeError(`no decimal: ${text}`)
  const up = (fraction[places] ?? '0') >= '5' ? 1n : 0n
  const units = BigInt(whole + fraction.slice(0, places).padEnd(places, '0')) + up
  return minus === '-' ? -units : units
}

/** Units as a decimal without trailing zeros. */
export function fromUnits(units: bigint, places: number): string {
  const one = 10n ** BigInt(places)
  const size = units < 0n ? -units : units
  const fraction = (size % one).toString().padStart(places, '0').replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${size / one}${fraction === '' ? '' : `.${fraction}`}`
}
