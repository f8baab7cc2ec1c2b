/** Explore over HTTP: any question about clicks, for signed-in people. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { ExploreFileQuestion, ExploreQuestion, MOST_CSV_LINES } from '../../contract/explore.ts'
import { ExploreAnswer, ExploreValues } from '../../contract/explore-answer.ts'
import { EXPLORE_DIMENSIONS, TEXT_DIMENSIONS } from '../../contract/explore-dimensions.ts'
import { Text } from '../../contract/fields.ts'

const refuses = [
  'invalid_question',
  'window_required',
  'invalid_window',
  'window_too_wide',
  'question_too_wide',
  'explore_busy',
] as const

const declared = {
  access: { session: 'member' },
  reads: true,
  body: ExploreQuestion,
  misfit: 'invalid_question',
  refuses,
} as const

export const explore = endpoint({
  ...declared,
  route: 'POST /api/explore',
  summary: 'Break clicks down by any dimensions',
  description:
    'Tracked clicks made in the window, broken down by one to four levels, with their figures so far. Each level has its first rows and one row, other, for ' +
    'the rest, so that rows add up to the one above. Where the answer would be too long, rows further down have no children: open one with within.',
  reply: ExploreAnswer,
  refuses: [...refuses, 'rate_unknown'],
})

export const exploreAsCsv = endpoint({
  ...declared,
  route: 'POST /api/explore/csv',
  body: ExploreFileQuestion,
  summary: 'Break clicks down by any dimensions, as a CSV file',
  description: `A line for each row of the last level, at most ${MOST_CSV_LINES.toLocaleString('en-US')}. Levels without top are listed in full. With compare, each column is followed by its value in the period before.`,
  file: 'text/csv',
  status: 200,
})

export const readExploreFacts = endpoint({
  route: 'GET /api/explore/facts',
  access: { session: 'admin' },
  summary: 'Export the clicks of a day as Parquet',
  description:
    'A row for each tracked click made on the UTC day, with its figures so far: made_at, the ids of campaign, offer, landing, ad_account and bot, ' +
    `${TEXT_DIMENSIONS.join(', ')}, way, visitor, is_new, is_left_out, landed to ftd, approved, pending and rejected; revenue, revenue_pending and cost in US dollars, and unread_cost. ` +
    'cost is what the click itself cost, without a share of booked spend. Without id, ' +
    'address, user agent and click ids of ad platforms. visitor numbers the visitors within this one file. Refuses explore_busy for a day whose clicks are still being counted.',
  query: z.object({
    day: z.iso.date().meta({ description: 'UTC day, YYYY-MM-DD', examples: ['2026-03-31'] }),
  }),
  file: 'application/vnd.apache.parquet',
  status: 200,
  refuses: ['question_too_wide', 'explore_busy'],
})

export const listExploreValues = endpoint({
  route: 'GET /api/explore/values',
  access: { session: 'member' },
  summary: 'List the values that a filter may name',
  description: 'Up to 50 values: objects by name, texts by their clicks in the window. Only texts need a window.',
  query: z.object({
    dimension: z.enum(EXPLORE_DIMENSIONS),
    search: Text(200).optional().meta({ description: 'Part of the name or text; case does not matter' }),
    date_from: z.string().optional(),
    date_to: z.string().optional(),
  }),
  reply: ExploreValues,
  refuses,
})
