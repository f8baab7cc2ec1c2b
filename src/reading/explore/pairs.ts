/**
 * Counts that are summed two at a time: a column holds one in its lower half and the other in its upper, so that one addition does for both. A
 * half holds some two billion either way, more than there are clicks to ask for.
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

/** What one of the upper half weighs. */
export const PAIR_SIZE = 2 ** 32

export const nameOfPair = ([low, high]: Pair) => `${low}_${high}`
