/** Reconciliations over HTTP: the file of a network, compared with the conversions recorded here. Sessions only: no right of keys covers these routes. */
import { z } from 'zod'
import { Currency } from '../../contract/currencies.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { Id, Instant, Money, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'
import { EVENT_STATUSES } from '../../contract/revisions.ts'
import { TimeZone } from '../../contract/time-zones.ts'
import { Warnings } from '../../contract/warnings.ts'

/** The heaps into which lines and conversions are sorted. */
export const HEAPS = [
  'same',
  'missing_here',
  'missing_there',
  'other_amount',
  'other_status',
  'several',
  'wrong',
] as const
export type Heap = (typeof HEAPS)[number]
const Heap = z.enum(HEAPS).meta({
  description:
    'same: agrees, or repeats an earlier line; missing_here: no conversion here matches; missing_there: a conversion of the network that no line ' +
    'matches; other_amount, other_status: differs; several: it may mean several conversions, or several lines mean the same one; wrong: see error',
})

/** The columns of a file. */
export const COLUMNS = ['click_id', 'transaction_id', 'amount', 'currency', 'status', 'at'] as const
export type Column = (typeof COLUMNS)[number]
const Title = z.string().nullable()
const FileColumns = z.object({
  click_id: Title,
  transaction_id: Title,
  amount: Title,
  currency: Title,
  status: Title,
  at: Title,
})

const Count = z.number().int()
const Counts = z.object({
  same: Count,
  missing_here: Count,
  missing_there: Count,
  other_amount: Count,
  other_status: Count,
  several: Count,
  wrong: Count,
})

const Totals = z.object({
  here: Money.meta({
    description: 'The approved amounts of the conversions that lines mean, and of those missing there',
  }),
  there: Money.meta({ description: 'The approved amounts of the lines; repeated lines are left out' }),
})

const summary = {
  id: Id,
  network_id: Id,
  created_at: Instant,
  titles: z.array(z.string()),
  columns: FileColumns.meta({ description: 'The title from which each column was read; null: the file has none' }),
  currency: z.string().nullable().meta({ description: 'Currency of lines that name none; null: each must name one' }),
  time_zone: z.string(),
  shift_minutes: Count.meta({ description: 'How far the times of the file are ahead: 180 for a file in UTC+3' }),
  from: Instant.nullable().meta({ description: 'First moment of the file, without the shift' }),
  to: Instant.nullable().meta({ description: 'Last moment of the file, without the shift' }),
  lines: Count,
  heaps: Counts.meta({ description: 'Lines per heap; missing_there counts conversions' }),
  totals: Totals,
}

export const Reconciliation = z.object({ ...summary, warnings: Warnings }).meta({ id: 'Reconciliation' })
export type Reconciliation = z.output<typeof Reconciliation>

const ReconciliationSummary = z.object(summary).meta({ id: 'ReconciliationSummary' })

const Status = z.enum(EVENT_STATUSES)

export const ReconciledLine = z
  .object({
    line: Count.nullable().meta({ description: 'Number in the file, from 1; null for missing_there' }),
    heap: Heap,
    repeats_line: Count.nullable(),
    matched_by: z.enum(['transaction_and_click', 'transaction', 'click']).nullable(),
    click_id: z.string().nullable().meta({ description: 'As the file has it, if it is no click id of Sluice' }),
    transaction_id: z.string().nullable(),
    event_id: Id.nullable(),
    here: z.object({ amount: Money, status: Status, at: Instant }).nullable(),
    there: z
      .object({
        amount: z.string().nullable(),
        currency: z.string().nullable(),
        amount_usd: Money.nullable(),
        status: Status,
        at: Instant.nullable(),
      })
      .nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'ReconciledLine' })
export type ReconciledLine = z.output<typeof ReconciledLine>

const ChosenColumns = z
  .string()
  .max(4000)
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown
    } catch {
      context.addIssue({ code: 'custom', message: 'is no JSON' })
      return z.NEVER
    }
  })
  .pipe(FileColumns.partial().strict())
  .meta({
    description: 'JSON: the title of each column, such as {"amount": "Payout"}. Left out: found by its usual title',
  })

export const reconcileFile = endpoint({
  route: 'POST /api/networks/:id/reconciliations',
  access: { session: 'admin' },
  history: { none: 'it only compares: what is then recorded or revised has rows of its own' },
  summary: 'Compare a CSV file of a network with the conversions recorded here',
  description:
    'Changes no conversion. Lines are matched by transaction and click id, then by transaction, then by a click id with one paid conversion; never by ' +
    'time and amount alone. Without time_zone the zone is UTC, or the offset by which the times of all matching lines are apart. Kept for 90 days.',
  query: z.object({
    currency: Currency.optional().meta({
      description: 'Currency of lines that name none; left out: the currency of the network',
    }),
    time_zone: TimeZone.optional(),
    date_order: z
      .enum(['month_first', 'day_first'])
      .optional()
      .meta({ description: 'How dates with slashes are read' }),
    columns: ChosenColumns.optional(),
  }),
  takesFile: 'text/csv',
  reply: Reconciliation,
  status: 201,
  refuses: ['object_not_found', 'reconcile_file_unreadable'],
})

export const listReconciliations = endpoint({
  route: 'GET /api/networks/:id/reconciliations',
  access: { session: 'member' },
  summary: 'List the compared files of a network, newest first',
  description: 'The counts are those of the comparison, or of the newest act on it.',
  query: z.object(paging),
  reply: Page(ReconciliationSummary),
  refuses: ['object_not_found'],
})

export const readReconciliation = endpoint({
  route: 'GET /api/reconciliations/:id',
  access: { session: 'member' },
  summary: 'Compare a file again with the conversions recorded now',
  reply: Reconciliation,
  refuses: ['object_not_found'],
})

export const listReconciledLines = endpoint({
  route: 'GET /api/reconciliations/:id/lines',
  access: { session: 'member' },
  summary: 'List the lines of a file, and the conversions that are missing in it',
  description: 'In the order of the file, compared with the conversions recorded now.',
  query: z.object({
    heap: Heap.optional(),
    limit: paging.limit,
    cursor: z.string().max(64).optional().meta({ description: 'next_cursor of the page before' }),
  }),
  reply: Page(ReconciledLine),
  refuses: ['object_not_found', 'invalid_cursor'],
})

export const exportReconciledLines = endpoint({
  route: 'GET /api/reconciliations/:id/csv',
  access: { session: 'member' },
  summary: 'Save the lines of a heap as a CSV file',
  query: z.object({ heap: Heap.optional() }),
  file: 'text/csv',
  status: 200,
  refuses: ['object_not_found'],
})

const ActField = z.object({ name: z.string(), before: z.json(), after: z.json() })

export const ActedLine = z
  .object({
    line: Count,
    id: Id.nullable().meta({ description: 'The conversion; null before it is recorded' }),
    name: z.string().nullable().meta({ description: 'The transaction id, else the click id' }),
    fate: z.enum(['changes', 'same', 'refused']),
    fields: z.array(ActField),
    code: z.string().nullable(),
    error: z.string().nullable(),
    made_id: Id.nullable().meta({ description: 'The conversion that was recorded; null in a dry run' }),
  })
  .meta({ id: 'ActedLine' })
export type ActedLine = z.output<typeof ActedLine>

export const actOnReconciliation = endpoint({
  route: 'POST /api/reconciliations/:id/act',
  access: { session: 'admin' },
  history: { in: 'event' },
  summary: 'Record or revise the conversions of a heap',
  description:
    'record: records the conversions that are missing here, on their clicks and at the rates of their days. revise: gives conversions the amount and ' +
    'status of the file. Lines are done one by one, and a refused one leaves the others. All are one act of the history; putting it back rejects what ' +
    'it recorded and revises back what it revised.',
  body: z
    .object({
      heap: z.enum(['missing_here', 'other_amount', 'other_status']),
      act: z.enum(['record', 'revise']),
      leave_out: z
        .array(Count)
        .max(1_000_000)
        .default([])
        .meta({ description: 'Numbers of lines that stay as they are' }),
      dry_run: z.boolean().meta({ description: 'True: only says what would happen to each line' }),
    })
    .refine(({ heap, act }) => (act === 'record') === (heap === 'missing_here'), {
      path: ['act'],
      message: 'must be record for missing_here, and revise for the other heaps',
    }),
  reply: z.object({
    dry_run: z.boolean(),
    act_id: Id.nullable(),
    changed: Count,
    same: Count,
    refused: Count,
    data: z.array(ActedLine),
  }),
  refuses: ['object_not_found'],
})
