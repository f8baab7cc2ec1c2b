/** Ad spend over HTTP: the cost of a campaign's traffic on a day, entered by a person or a system. */
import { z } from 'zod'
import { Currency, OriginalMoney } from '../../contract/currencies.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { Amount, Done, FAITHFUL, Id, Instant, Money, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'
import { Warnings } from '../../contract/warnings.ts'
import { date_from, date_to } from '../../contract/window.ts'

/** Earlier days are mistyped years: nobody bought a recorded click before. */
export const EARLIEST_DAY = '2000-01-01'
/** The most US dollars of one row. */
export const MAX_SPEND = 1_000_000_000

const Day = z.iso
  .date()
  .refine(day => day >= EARLIEST_DAY, { message: `must be ${EARLIEST_DAY} or later` })
  .meta({ description: 'UTC day, YYYY-MM-DD', examples: ['2026-03-01'] })

const Source = z.enum(['manual', 'api']).meta({ description: 'Entered in the dashboard, or sent with a key' })

export const AdSpend = z
  .object({
    campaign_id: Id,
    day: Day,
    sub1: z.string().meta({ description: 'Empty: spend of the campaign and day without a known sub1' }),
    amount: Money,
    original: OriginalMoney.nullable().meta({
      description: 'The amount as entered in another currency; null: entered in US dollars',
    }),
    source: Source,
    updated_at: Instant,
  })
  .meta({ id: 'AdSpend' })
export type AdSpend = z.output<typeof AdSpend>

const Spend = Amount(MAX_SPEND)

/** An amount, or null or an empty text to delete the row. Required, so that a forgotten field deletes nothing. */
const AmountOrNone = z
  .union([z.number(), z.string(), z.null()], {
    error: 'must be sent: a number or a decimal string, or empty to delete the row',
  })
  .transform((sent, context) => {
    if (sent === null || sent === '') return null
    const read = Spend.safeParse(sent)
    if (read.success) return read.data
    context.addIssue({ code: 'custom', message: read.error.issues[0]?.message ?? 'is not an amount' })
    return z.NEVER
  })
  .meta({ description: 'In `currency`; null or empty deletes the row' })

export const AdSpendDraft = z.object({
  campaign_id: Id,
  day: Day,
  sub1: z
    .string()
    .refine(...FAITHFUL)
    .nullish()
    .meta({ description: 'The same text as in the clicks; cut at 500 bytes like theirs' }),
  amount: AmountOrNone,
  currency: Currency.nullish().meta({
    description:
      'The currency of the amount, for sessions only: converted into US dollars at the rate of the spend’s day. Default: US dollars. Amounts from keys are always US dollars.',
  }),
})
export type AdSpendDraft = z.output<typeof AdSpendDraft>

export const recordAdSpend = endpoint({
  route: 'PUT /api/ad-spend',
  access: { session: 'admin', key: 'ad-spend' },
  history: 'ad_spend',
  summary: 'Record or delete ad spend',
  description:
    'Sets the spend of a campaign, day and sub1 and replaces the earlier amount; the same amount again changes nothing. An empty amount deletes the row. The campaign ' +
    'may be deleted, because bills come late.',
  body: AdSpendDraft,
  reply: AdSpend.extend({
    amount: Money.nullable().meta({ description: 'null: no spend is recorded any more' }),
    source: Source.nullable(),
    updated_at: Instant.nullable(),
    deleted: z.boolean().meta({ description: 'Whether an empty amount deleted a row' }),
    warnings: Warnings,
  }),
  receipt: ['campaign_id', 'day', 'sub1', 'amount', 'deleted'],
  refuses: ['campaign_scope_forbidden', 'object_not_found', 'rate_unknown'],
})

export const listAdSpend = endpoint({
  route: 'GET /api/ad-spend',
  access: { session: 'member' },
  summary: 'List ad spend, newest day first',
  description: 'Without a window: the last 30 days.',
  query: z.object({
    date_from,
    date_to,
    campaign_id: Id.optional(),
    limit: paging.limit,
    cursor: z.string().optional().meta({ description: 'next_cursor of the previous page' }),
  }),
  reply: Page(AdSpend),
  refuses: ['invalid_window', 'window_too_wide', 'invalid_cursor', 'invalid_request'],
})

/** The titles of the columns in a file. A title that is not given is found by its usual names. */
const Columns = z.object({
  day: z.string().nullish(),
  campaign: z.string().nullish(),
  sub1: z.string().nullish(),
  amount: z.string().nullish(),
  currency: z.string().nullish(),
})
export type Columns = z.output<typeof Columns>

export const SpendFile = z
  .object({
    csv: z.string().min(1).meta({ description: 'The text of the file: comma, semicolon or tab between the columns' }),
    columns: Columns.nullish(),
    campaign_id: Id.nullish().meta({ description: 'The campaign of lines without one' }),
    currency: Currency.nullish().meta({ description: 'The currency of lines without one; default: US dollars' }),
    date_order: z
      .enum(['month_first', 'day_first'])
      .nullish()
      .meta({ description: 'How to read dates with slashes; without it they are refused' }),
    leave_out: z
      .array(z.number().int())
      .max(5000)
      .nullish()
      .meta({ description: 'Numbers of lines to skip, such as those a dry run found wrong' }),
    dry_run: z.boolean().meta({ description: 'True: only previews the result of each line' }),
  })
  .meta({ id: 'SpendFile' })
export type SpendFile = z.output<typeof SpendFile>

/** A line of the file with its result. Lines of the same campaign, day and sub1 are added up. */
export const SpendLine = z
  .object({
    line: z.number().int().meta({ description: 'The number of its last line in the file, starting at 1' }),
    fate: z.enum(['new', 'replaces', 'same', 'added', 'deletes', 'nothing', 'wrong']).meta({
      description:
        'new: there was no spend; replaces: there was another amount; same: the amount was recorded already; added: adds to the line in added_to; deletes: an empty amount ' +
        'deletes a row; nothing: an empty amount, and there was no row; wrong: see error',
    }),
    campaign_id: Id.nullable(),
    campaign_name: z.string().nullable(),
    day: Day.nullable(),
    sub1: z.string().nullable(),
    amount: Money.nullable(),
    original: OriginalMoney.nullable().meta({
      description: 'The amount of the line in another currency, with the rate of its day; null: US dollars',
    }),
    before: Money.nullable().meta({ description: 'The amount recorded before' }),
    becomes: Money.nullable().meta({ description: 'The amount recorded afterwards, all lines added up' }),
    added_to: z.number().int().nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'SpendLine' })
export type SpendLine = z.output<typeof SpendLine>

export const importAdSpend = endpoint({
  route: 'POST /api/ad-spend/import',
  access: { session: 'admin' },
  history: { in: 'ad_spend' },
  summary: 'Import ad spend from a CSV file',
  description:
    'Reads the exports of ad platforms and spreadsheets by titles such as day or date, campaign (name, key or id), sub1, amount, cost or spend. All ' +
    'lines but those in leave_out are imported, or none. Do a dry run first.',
  body: SpendFile,
  reply: z.object({
    dry_run: z.boolean(),
    titles: z.array(z.string()).meta({ description: 'All columns of the file' }),
    columns: z
      .object({
        day: z.string().nullable(),
        campaign: z.string().nullable(),
        sub1: z.string().nullable(),
        amount: z.string().nullable(),
        currency: z.string().nullable(),
      })
      .meta({ description: 'The titles of the columns that were read' }),
    problem: z.string().nullable().meta({
      description:
        'In a dry run: why the file cannot be imported at all, such as a missing column; lines is empty then',
    }),
    lines: z.array(SpendLine),
    wrong: z.number().int().meta({ description: 'Number of lines that prevent the import' }),
    changed: z.number().int().meta({ description: 'Number of rows that are, or would be, new, replaced or deleted' }),
    total: Money.meta({ description: 'The sum of all amounts in the file' }),
    warnings: Warnings,
  }),
  refuses: ['spend_file_unreadable', 'spend_lines_wrong', 'object_not_found'],
})

export const SpreadDraft = z
  .object({
    campaign_id: Id,
    from: Instant.meta({ description: 'ISO 8601, with the offset of the bill’s time zone' }),
    to: Instant.meta({ description: 'Exclusive; at most 92 days after from, and not in the future' }),
    amount: Spend.refine(amount => amount !== '0', { message: 'must be more than 0' }),
    currency: Currency.nullish().meta({ description: 'The currency of the amount; default: US dollars' }),
    sub1: z
      .string()
      .refine(...FAITHFUL)
      .nullish()
      .meta({ description: 'The sub1 the amount is for, as in the clicks; empty: the whole campaign' }),
    dry_run: z.boolean().meta({ description: 'True: only previews how it would be divided' }),
  })
  .meta({ id: 'SpreadDraft' })
export type SpreadDraft = z.output<typeof SpreadDraft>

const Clicks = z.int().min(0)

export const Spread = z
  .object({
    id: Id,
    campaign_id: Id,
    sub1: z.string().meta({ description: 'Empty: the whole campaign' }),
    from: Instant,
    to: Instant,
    amount: Money,
    original: z
      .object({
        original_amount: z.string().meta({ description: 'In its currency, a decimal string' }),
        currency: z.string(),
      })
      .nullable()
      .meta({
        description:
          'The amount in another currency, each part of which was converted at the rate of its day; null: US dollars',
      }),
    clicks: Clicks.meta({ description: 'The number of tracked clicks it was divided by' }),
    counting: Money.meta({ description: 'The part that counts; spend recorded by day overrides the rest' }),
    created_at: Instant,
    created_by: z.string().nullable().meta({ description: 'Name of the member who spread it' }),
    taken_back_at: Instant.nullable(),
    taken_back_by: z.string().nullable(),
  })
  .meta({ id: 'Spread' })
export type Spread = z.output<typeof Spread>

export const spreadAdSpend = endpoint({
  route: 'POST /api/ad-spend/spreads',
  access: { session: 'admin' },
  history: 'spread',
  summary: 'Spread an amount over the clicks of a time window',
  description:
    'Divides the cost of a campaign, or of one of its sub1, between two moments over UTC days and sub1 in proportion to tracked clicks, to the millionth. ' +
    'The division never changes afterwards. It overrides spend from ad accounts and the cost of the clicks themselves; spend recorded by day overrides it.',
  body: SpreadDraft,
  reply: z.object({
    dry_run: z.boolean(),
    spread: Spread.nullable().meta({ description: 'null: a dry run' }),
    amount: Money.meta({ description: 'In US dollars' }),
    clicks: Clicks,
    cells: z.int().meta({ description: 'Number of combinations of day and sub1 that have clicks' }),
    days: z
      .array(z.object({ day: Day, clicks: Clicks, amount: Money }))
      .meta({ description: 'The part of each UTC day' }),
  }),
  refuses: [
    'object_not_found',
    'invalid_window',
    'window_too_wide',
    'invalid_request',
    'rate_unknown',
    'no_clicks_to_spread',
    'cells_taken',
    'spread_overlaps',
    'partial_day',
  ],
})

export const listSpreads = endpoint({
  route: 'GET /api/ad-spend/spreads',
  access: { session: 'member' },
  summary: 'List spread amounts, newest first',
  description: 'Includes amounts that were taken back.',
  query: z.object({ ...paging, campaign_id: Id.optional() }),
  reply: Page(Spread),
})

export const takeBackSpread = endpoint({
  route: 'DELETE /api/ad-spend/spreads/:id',
  access: { session: 'admin' },
  history: 'spread',
  summary: 'Take back a spread amount',
  description: 'As a whole. The costs it overrode count again.',
  reply: Done,
  refuses: ['object_not_found'],
})
