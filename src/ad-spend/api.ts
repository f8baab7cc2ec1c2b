/** Ad spend over HTTP: what a campaign's traffic cost on a day, as someone or some system entered it. */
import { z } from 'zod'
import { endpoint } from '../contract/endpoint.ts'
import { Amount, Id, Instant, isFaithful, Money, Page } from '../contract/fields.ts'
import { paging } from '../contract/paging.ts'
import { date_from, date_to } from '../reports/api.ts'

const Day = z.iso
  .date()
  .refine(day => day >= '2000-01-01', { message: 'must be 2000-01-01 or later' })
  .meta({ description: 'UTC day, YYYY-MM-DD', examples: ['2026-03-01'] })

const Source = z.enum(['manual', 'api']).meta({ description: 'Entered in the dashboard, or sent with a key' })

export const AdSpend = z.object({
  campaign_id: Id,
  day: Day,
  sub1: z.string().meta({ description: 'Empty: spend of the campaign and day that no sub1 is known for' }),
  amount: Money,
  source: Source,
  updated_at: Instant,
})
export type AdSpend = z.output<typeof AdSpend>

const MOST = Amount(1_000_000_000)

/** An amount, or none: null and the empty text delete the row. It must be sent, so that a forgotten field deletes nothing. */
const AmountOrNone = z
  .union([z.number(), z.string(), z.null()])
  .transform((sent, context) => {
    if (sent === null || sent === '') return null
    const read = MOST.safeParse(sent)
    if (read.success) return read.data
    context.addIssue({ code: 'custom', message: read.error.issues[0]?.message ?? 'is no amount' })
    return z.NEVER
  })
  .meta({ description: 'US dollars; null or empty deletes the row' })

export const AdSpendDraft = z.object({
  campaign_id: Id,
  day: Day,
  sub1: z
    .string()
    .refine(isFaithful, { message: 'holds characters that cannot be stored' })
    .nullish()
    .meta({ description: 'As the clicks carry it; cut at 500 bytes like theirs' }),
  amount: AmountOrNone,
})
export type AdSpendDraft = z.output<typeof AdSpendDraft>

export const recordAdSpend = endpoint({
  route: 'PUT /api/ad-spend',
  access: { session: 'admin', key: 'ad-spend' },
  summary: 'Record or delete ad spend',
  description:
    'Sets the spend of a campaign, day and sub1, in place of what was recorded before. An empty amount deletes the row. The campaign ' +
    'may be a deleted one, because bills come late.',
  body: AdSpendDraft,
  reply: AdSpend.extend({
    amount: Money.nullable().meta({ description: 'null: no spend is recorded now' }),
    source: Source.nullable(),
    updated_at: Instant.nullable(),
    deleted: z.boolean().meta({ description: 'True when an empty amount has deleted a row' }),
  }),
  refuses: ['campaign_scope_forbidden', 'object_not_found'],
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
