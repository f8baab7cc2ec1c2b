/** Exact decimals: text outside, whole units of the last place while they are computed with. */

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/

/**
 * A plain decimal in units of its `places`-th place; what is finer is rounded half up, away from zero for negative ones.
 * @throws RangeError for what is no plain decimal ("1e3", ".5", " ").
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
