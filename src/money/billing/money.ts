/** Converts amounts between decimal strings and whole millionths of a dollar, in which they are added up. */
import { fromUnits, toUnits } from '../../contract/decimals.ts'

const DECIMALS = 6

/** A decimal string in millionths, rounded half up. @throws RangeError for anything but a plain decimal. */
export const toMillionths = (text: string): bigint => toUnits(text, DECIMALS)

/** Millionths as a decimal string without trailing zeros. */
export const fromMillionths = (amount: bigint): string => fromUnits(amount, DECIMALS)
