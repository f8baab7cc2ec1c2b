/**
 * Counts that are summed two at a time: a column holds one count in its lower half and another in its upper half, so one addition sums both. A
 * half holds some two billion either way, more than any window has clicks.
 */
export const PAIRS = [
  ['landed', 'started'],
  ['registered', 'lead'],
  ['deposit', 'ftd'],
  ['new_visitors', 'unread_costs'],
  ['approved', 'pending'],
  ['conversions', 'conversions_pending'],
] as const
export type Pair = (typeof PAIRS)[number]
export type Paired = Pair[number]

/** The value of 1 in the upper half. */
export const PAIR_SIZE = 2 ** 32

export const nameOfPair = ([low, high]: Pair) => `${low}_${high}`
