/** The click feed over HTTP: one row per click, newest first. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { eachSub, FAITHFUL, Id, Instant, Page } from '../../contract/fields.ts'
import { LADDER } from '../../contract/ladder.ts'
import { listFile } from '../../contract/list-files.ts'
import { sought } from '../../contract/sought.ts'
import { date_from, date_to, rawParameter, ReadWarnings } from '../../contract/window.ts'
import { NamedCampaigns } from '../../traffic/campaigns/api.ts'
import { campaign_id } from '../reports/api.ts'

const Text = z.string().nullable()

/** The 21 fields of a click, no more: everything else about it is withheld by design. */
export const FeedClick = z
  .object({
    id: Id,
    created_at: Instant,
    campaign_id: Id.nullable(),
    status: z.enum(LADDER).meta({ description: 'The highest stage reached' }),
    tracked: z
      .boolean()
      .meta({ description: 'False for crawlers, previews, prefetches and test clicks, which reports leave out' }),
    geo: Text.meta({ description: 'ISO country code' }),
    device: Text,
    os: Text,
    browser: Text,
    ref_id: Text.meta({ description: 'The click id of the traffic source' }),
    offer_id: Id.nullable(),
    ...eachSub(() => Text),
    revenue: Text.meta({ description: 'US dollars as a decimal string, as summed; null without a paying conversion' }),
  })
  .meta({ id: 'Click' })
export type FeedClick = z.output<typeof FeedClick>

/** A click as signed-in people see it. */
const ListedClick = FeedClick.extend({
  is_left_out: z.boolean().meta({ description: 'Whether the visitor had a left-out value of the campaign' }),
}).meta({ id: 'ListedClick' })

export const TRACKED = ['true', 'false', 'all'] as const

const declared = {
  summary: 'List clicks, newest first',
  description:
    'Without a window: the last 30 days. With one bound, the other is 30 days away. Send `next_cursor` back, with the same filters, ' +
    'until it is null.',
  query: z.object({
    date_from,
    date_to,
    campaign_id,
    status: rawParameter({ description: 'Only clicks whose highest stage this is', enum: LADDER }),
    tracked: rawParameter({ description: 'true unless given', enum: TRACKED }),
    cursor: rawParameter({ description: 'next_cursor of the page before, unchanged' }),
    limit: rawParameter({ description: 'Rows of a page, 1 to 1000, 100 unless given' }),
  }),
  reply: Page(FeedClick).extend({ warnings: ReadWarnings }),
  replyIsShaped: true,
  refuses: ['invalid_window', 'window_too_wide', 'invalid_status', 'invalid_tracked', 'invalid_cursor'],
} as const

export const listClicks = endpoint({
  ...declared,
  route: 'GET /api/v1/clicks',
  access: { key: 'clicks' },
  quota: 'clicks',
})

const COUNTRY = 'must be the two letters of a country such as DE, or empty for clicks without one'

/** The longest sub of a click. */
const LONGEST_SUB = 500
const SUB1 = `must be a text of at most ${LONGEST_SUB} characters, or empty for clicks without one`

/** Not in the feed for keys, whose parameters the contract fixes. */
const narrowing = {
  geo: z
    .string()
    .regex(/^([a-z]{2})?$/i, { error: COUNTRY })
    .optional()
    .meta({ description: 'Only clicks from this country; empty: clicks without a known country', examples: ['DE'] }),
  sub1: z
    .string()
    .max(LONGEST_SUB, { error: SUB1 })
    .refine(...FAITHFUL)
    .optional()
    .meta({ description: 'Only clicks with exactly this sub1; empty: clicks without one' }),
}

/** The filters of the list for signed-in people. */
const filters = declared.query.omit({ cursor: true, limit: true }).extend({ ...narrowing, ...sought })

export const listClicksAsMember = endpoint({
  ...declared,
  description: `${declared.description} With \`q\`, and without a window: all clicks that are kept. A rare country or sub1 may take too long: then choose fewer days.`,
  query: filters.extend({ cursor: declared.query.shape.cursor, limit: declared.query.shape.limit }),
  reply: declared.reply.extend({
    data: z.array(ListedClick),
    campaigns: NamedCampaigns,
    clicks_from: z.iso.date().nullable().meta({ description: 'Clicks made before this day are no longer kept' }),
  }),
  route: 'GET /api/clicks',
  access: { session: 'member' },
})

export const exportClicks = endpoint({
  ...listFile,
  route: 'GET /api/clicks/csv',
  summary: 'Save the listed clicks as a CSV file',
  query: filters,
  refuses: ['invalid_window', 'window_too_wide', 'invalid_status', 'invalid_tracked', 'too_many_lines'],
})
