/** The words for heaps, and for what can be done with them. */
import type { Column, Heap } from '../../../intake/reconciliations/api.ts'

export const HEAP_WORDS: Readonly<Record<Heap, { name: string; words: string }>> = {
  same: { name: 'Same', words: 'The network and Sluice agree. Repeated lines are here too.' },
  missing_here: { name: 'Missing here', words: 'The network has these conversions, and none is recorded here.' },
  missing_there: {
    name: 'Missing there',
    words: 'The network reported these conversions, and its file does not have them. Send the CSV to its manager.',
  },
  other_amount: { name: 'Other amount', words: 'The file has another amount than Sluice.' },
  other_status: { name: 'Other status', words: 'The file has another status than Sluice.' },
  several: {
    name: 'Several',
    words: 'A line may mean several conversions, or several lines mean the same one. Change these by hand.',
  },
  wrong: { name: 'Wrong', words: 'These lines cannot be read.' },
}

export const ACTS = {
  missing_here: {
    act: 'record',
    button: 'Record',
    title: 'Record the missing conversions',
    words:
      'They are recorded on their clicks at the rates of their days, counted, charged and delivered like any conversion.',
    done: 'recorded',
  },
  other_amount: {
    act: 'revise',
    button: 'Revise',
    title: 'Take the amounts of the file',
    words: 'The conversions get the amounts of the file.',
    done: 'revised',
  },
  other_status: {
    act: 'revise',
    button: 'Revise',
    title: 'Take the statuses of the file',
    words: 'The conversions get the statuses and amounts of the file.',
    done: 'revised',
  },
} as const

export const isActable = (heap: Heap): heap is keyof typeof ACTS => heap in ACTS

/** The columns of a file, in the order of the form. */
export const COLUMN_WORDS: readonly (readonly [column: Column, label: string])[] = [
  ['click_id', 'Click id'],
  ['transaction_id', 'Transaction id'],
  ['amount', 'Amount'],
  ['currency', 'Currency'],
  ['status', 'Status'],
  ['at', 'Time'],
]
