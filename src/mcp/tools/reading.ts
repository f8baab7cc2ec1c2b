/** Reading: the click feed and the funnel report. */
import { FIGURES, type FigureKey } from '../../contract/figures.ts'
import { STAGES } from '../../contract/ladder.ts'
import { listClicks } from '../../reading/feed/api.ts'
import { readReport } from '../../reading/reports/api.ts'
import { tool } from '../tool.ts'
import { READS } from './hints.ts'

const START = 'ISO 8601 UTC, inclusive; at most 92 days before date_to.'
const END = 'Inclusive. A date alone is its midnight: for a whole day write 2026-03-31T23:59:59.999Z.'
const ONLY_CAMPAIGN = 'Only this campaign. Unknown, or not of this key: no rows.'

/** What a row of the report has. */
const COUNTED = ['clicks', ...STAGES, 'revenue'] as const satisfies FigureKey[]

export const readingTools = [
  tool({
    name: 'service_list_clicks',
    title: 'List clicks',
    endpoint: listClicks,
    hints: READS,
    description:
      'Lists clicks, newest first, 50 a page, the last 30 days unless dated. While next_cursor is not null, call again with it as cursor, filters alike. For sums: service_get_report.',
    unlessGiven: { limit: 50 },
    fields: {
      date_from: START,
      date_to: END,
      campaign_id: ONLY_CAMPAIGN,
      status: 'Only clicks whose highest step this is.',
      tracked: 'true: real visitors, the default. false: bots, previews and test clicks. all: both.',
      cursor: 'next_cursor of the page before, unchanged.',
      limit: { type: 'integer', minimum: 1, maximum: 1000, default: 50, description: 'Rows of a page.' },
    },
  }),
  tool({
    name: 'service_get_report',
    title: 'Read the funnel report',
    endpoint: readReport,
    hints: READS,
    description: `By one dimension, on the click's day: ${COUNTED.join(', ')}; cost by campaign, sub1, day. ${FIGURES.lead.means} truncated: cut at 500 rows, totals not.`,
    fields: {
      dimension: 'What each row is.',
      date_from: START,
      date_to: END,
      campaign_id: ONLY_CAMPAIGN,
    },
  }),
]
