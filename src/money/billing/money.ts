/** Amounts as the books add them up: decimal strings outside, whole millionths of a dollar inside. */
import { fromUnits, toUnits } from '../../contract/decimals.ts'

const DECIMALS = 6

/** A decimal string in millionths, rounded half up. @throws RangeError for what is no plain decimal. */
export const toMillionths = (text: string): bigint => toUnits(text, DECIMALS)

/** Millionths as a decimal string without trailing zeros. */
export const fromMillionths = (amount: bigint): string => fromUnits(amount, DECIMALS)
