/** The tools that read clicks and the report. */
import { FIGURES, type FigureKey } from '../../contract/figures.ts'
import { STAGES } from '../../contract/ladder.ts'
import { listClicks } from '../../reading/feed/api.ts'
import { readReport } from '../../reading/reports/api.ts'
import { tool } from '../tool.ts'
import { READS } from './hints.ts'

const START = 'ISO 8601 UTC; at most 92 days before date_to.'
const END = 'Inclusive. A date alone is its midnight; whole day: 2026-03-31T23:59:59.999Z.'
const ONLY_CAMPAIGN = 'Only this campaign. Unknown or outside this key: no rows.'

/** The figures in a row of the report. */
const COUNTED = ['clicks', ...STAGES, 'revenue'] as const satisfies FigureKey[]

export const readingTools = [
  tool({
    name: 'service_list_clicks',
    title: 'List clicks',
    endpoint: listClicks,
    hints: READS,
    description:
      'Clicks, newest first, 50 per page, by default the last 30 days. While next_cursor is not null, call again with it as cursor and the same filters. For sums use service_get_report.',
    unlessGiven: { limit: 50 },
    fields: {
      date_from: START,
      date_to: END,
      campaign_id: ONLY_CAMPAIGN,
      status: '',
      tracked: 'true (default): real visitors. false: bots, previews and test clicks. all: both.',
      cursor: 'next_cursor of the previous page, unchanged.',
      limit: { type: 'integer', minimum: 1, maximum: 1000, default: 50 },
    },
  }),
  tool({
    name: 'service_get_report',
    title: 'Read the funnel report',
    endpoint: readReport,
    hints: READS,
    description: `By one dimension, on the click's day: ${COUNTED.join(', ')}; cost by campaign, sub1, day. ${FIGURES.lead.means} truncated: the rows were cut at 500, the totals were not.`,
    fields: {
      dimension: '',
      date_from: 'As in service_list_clicks.',
      date_to: 'As in service_list_clicks.',
      campaign_id: ONLY_CAMPAIGN,
    },
  }),
]
