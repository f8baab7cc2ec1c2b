/** Ad spend over HTTP: what a campaign's traffic cost on a day, as someone or some system entered it. */
import { z } from 'zod'
import { Currency, OriginalMoney } from '../../contract/currencies.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { Amount, Done, FAITHFUL, Id, Instant, Money, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'
import { Warnings } from '../../contract/warnings.ts'
import { date_from, date_to } from '../../contract/window.ts'

/** Before it nobody has bought a click that is recorded here: a year that was mistyped. */
export const EARLIEST_DAY = '2000-01-01'
/** US dollars of one row. */
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
    sub1: z.string().meta({ description: 'Empty: spend of the campaign and day that no sub1 is known for' }),
    amount: Money,
    original: OriginalMoney.nullable().meta({ description: 'What was entered in another currency; null: US dollars' }),
    source: Source,
    updated_at: Instant,
  })
  .meta({ id: 'AdSpend' })
export type AdSpend = z.output<typeof AdSpend>

const Spend = Amount(MAX_SPEND)

/** An amount, or none: null and the empty text delete the row. It must be sent, so that a forgotten field deletes nothing. */
const AmountOrNone = z
  .union([z.number(), z.string(), z.null()], {
    error: 'must be sent: a number or a decimal string, or empty to delete the row',
  })
  .transform((sent, context) => {
    if (sent === null || sent === '') return null
    const read = Spend.safeParse(sent)
    if (read.success) return read.data
    context.addIssue({ code: 'custom', message: read.error.issues[0]?.message ?? 'is no amount' })
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
    .meta({ description: 'As the clicks carry it; cut at 500 bytes like theirs' }),
  amount: AmountOrNone,
  currency: Currency.nullish().meta({
    description:
      'What the amount is in, for sessions: turned into US dollars by the rate of the spend’s day. Left out: US dollars, as every key’s amounts are.',
  }),
})
export type AdSpendDraft = z.output<typeof AdSpendDraft>

export const recordAdSpend = endpoint({
  route: 'PUT /api/ad-spend',
  access: { session: 'admin', key: 'ad-spend' },
  summary: 'Record or delete ad spend',
  description:
    'Sets the spend of a campaign, day and sub1, in place of what was recorded before; an amount it has already leaves the row as it is. An empty amount deletes it. The campaign ' +
    'may be a deleted one, because bills come late.',
  body: AdSpendDraft,
  reply: AdSpend.extend({
    amount: Money.nullable().meta({ description: 'null: no spend is recorded now' }),
    source: Source.nullable(),
    updated_at: Instant.nullable(),
    deleted: z.boolean().meta({ description: 'True when an empty amount has deleted a row' }),
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
    cursor: z.string().optional().meta({ description: 'next_cursor of the page before' }),
  }),
  reply: Page(AdSpend),
  refuses: ['invalid_window', 'window_too_wide', 'invalid_cursor', 'invalid_request'],
})

/** Which column of a file is which, by its title; one that is left out is found by the usual names. */
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
    campaign_id: Id.nullish().meta({ description: 'The campaign of lines that name none' }),
    currency: Currency.nullish().meta({ description: 'What lines are in that name no currency; left out: US dollars' }),
    date_order: z
      .enum(['month_first', 'day_first'])
      .nullish()
      .meta({ description: 'How days with slashes are meant; without it they are refused' }),
    leave_out: z
      .array(z.number().int())
      .max(5000)
      .nullish()
      .meta({ description: 'Numbers of lines that are passed over, such as those a dry run has called wrong' }),
    dry_run: z.boolean().meta({ description: 'True: only tells what would become of each line' }),
  })
  .meta({ id: 'SpendFile' })
export type SpendFile = z.output<typeof SpendFile>

/** A line of the file and what becomes of it. Lines of the same campaign, day and sub1 are added up. */
export const SpendLine = z
  .object({
    line: z.number().int().meta({ description: 'The line of the file it ends on, the first is 1' }),
    fate: z.enum(['new', 'replaces', 'same', 'added', 'deletes', 'nothing', 'wrong']).meta({
      description:
        'new: there was no spend; replaces: there was another; same: it was there; added: adds to the line in added_to; deletes: an empty amount ' +
        'deletes a row; nothing: an empty amount where no row is; wrong: see error',
    }),
    campaign_id: Id.nullable(),
    campaign_name: z.string().nullable(),
    day: Day.nullable(),
    sub1: z.string().nullable(),
    amount: Money.nullable(),
    original: OriginalMoney.nullable().meta({
      description: 'What the line says in another currency, with the rate of its day; null: US dollars',
    }),
    before: Money.nullable().meta({ description: 'What was recorded before' }),
    becomes: Money.nullable().meta({ description: 'What is recorded afterwards, all lines added up' }),
    added_to: z.number().int().nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'SpendLine' })
export type SpendLine = z.output<typeof SpendLine>

export const importAdSpend = endpoint({
  route: 'POST /api/ad-spend/import',
  access: { session: 'admin' },
  summary: 'Import ad spend from a CSV file',
  description:
    'Takes the exports of ad platforms and spreadsheets: titles such as day or date, campaign (its name, key or id), sub1, amount, cost or spend. All ' +
    'lines go in, or none; but those you leave out. Look at a dry run first.',
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
      .meta({ description: 'The ones that were read' }),
    problem: z.string().nullable().meta({
      description:
        'Of a dry run: what keeps the file as a whole from going in, such as a column that was not found; there are no lines then',
    }),
    lines: z.array(SpendLine),
    wrong: z.number().int().meta({ description: 'Lines that keep the file from going in' }),
    changed: z.number().int().meta({ description: 'Rows that are, or would be, new, replaced or deleted' }),
    total: Money.meta({ description: 'All amounts of the file' }),
    warnings: Warnings,
  }),
  refuses: ['spend_file_unreadable', 'spend_lines_wrong', 'object_not_found'],
})

export const SpreadDraft = z
  .object({
    campaign_id: Id,
    from: Instant.meta({ description: 'ISO 8601, with the offset of whatever zone the amount is of' }),
    to: Instant.meta({ description: 'The first moment behind it; at most 92 days later, and not in the future' }),
    amount: Spend.refine(amount => amount !== '0', { message: 'must be more than 0' }),
    currency: Currency.nullish().meta({ description: 'Of the amount, US dollars unless sent' }),
    sub1: z
      .string()
      .refine(...FAITHFUL)
      .nullish()
      .meta({ description: 'What the amount is of, as the clicks carry it; empty: the campaign as a whole' }),
    dry_run: z.boolean().meta({ description: 'True: only tells how it would be divided' }),
  })
  .meta({ id: 'SpreadDraft' })
export type SpreadDraft = z.output<typeof SpreadDraft>

const Clicks = z.int().min(0)

export const Spread = z
  .object({
    id: Id,
    campaign_id: Id,
    sub1: z.string().meta({ description: 'Empty: of the campaign as a whole' }),
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
        description: 'What was spread in another currency, each part of it by the rate of its day; null: US dollars',
      }),
    clicks: Clicks.meta({ description: 'Tracked clicks that it was divided by, as they were then' }),
    counting: Money.meta({ description: 'What of it counts; the rest gave way to spend that was recorded by day' }),
    created_at: Instant,
    created_by: z.string().nullable().meta({ description: 'Who spread it' }),
    taken_back_at: Instant.nullable(),
    taken_back_by: z.string().nullable(),
  })
  .meta({ id: 'Spread' })
export type Spread = z.output<typeof Spread>

export const spreadAdSpend = endpoint({
  route: 'POST /api/ad-spend/spreads',
  access: { session: 'admin' },
  summary: 'Spread an amount over the clicks of a window',
  description:
    'Divides what a campaign, or one sub1 of it, has cost between two moments over UTC days and sub1 by tracked clicks, to the last millionth. Stays as ' +
    'it was divided, and takes the place of what ad accounts say and of what the clicks themselves cost; spend that is recorded by day takes its place.',
  body: SpreadDraft,
  reply: z.object({
    dry_run: z.boolean(),
    spread: Spread.nullable().meta({ description: 'null: a dry run' }),
    amount: Money.meta({ description: 'In US dollars' }),
    clicks: Clicks,
    cells: z.int().meta({ description: 'Days and values of sub1 that have clicks' }),
    days: z
      .array(z.object({ day: Day, clicks: Clicks, amount: Money }))
      .meta({ description: 'What falls to each UTC day' }),
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
  summary: 'List amounts that were spread, newest first',
  description: 'Those that were taken back too.',
  query: z.object({ ...paging, campaign_id: Id.optional() }),
  reply: Page(Spread),
})

export const takeBackSpread = endpoint({
  route: 'DELETE /api/ad-spend/spreads/:id',
  access: { session: 'admin' },
  summary: 'Take back an amount that was spread',
  description: 'As a whole. What it took the place of counts again.',
  reply: Done,
  refuses: ['object_not_found'],
})
