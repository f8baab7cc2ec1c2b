/** Reading: the click feed and the funnel report. */
import { listClicks } from '../../feed/api.ts'
import { readReport } from '../../reports/api.ts'
import { tool } from '../tool.ts'
import { READS } from './hints.ts'

const ONLY_CAMPAIGN = 'Only this campaign. One that is unknown, or outside what the key may see, yields no rows.'

export const readingTools = [
  tool({
    name: 'service_list_clicks',
    title: 'List clicks',
    endpoint: listClicks,
    hints: READS,
    description:
      'Lists clicks, newest first, 50 unless limit is given: id, campaign, status, geo, device, subs, revenue. While next_cursor is not null there are more: call again ' +
      'with cursor set to it and the same filters. For sums use service_get_report. Without dates: the last 30 days.',
    unlessGiven: { limit: 50 },
    fields: {
      date_from:
        'Start, inclusive, ISO 8601 UTC, as 2026-03-01 (its midnight) or 2026-03-01T12:00:00Z. At most 92 days before date_to.',
      date_to: 'End, inclusive. A date alone is its midnight: for a whole day write 2026-03-31T23:59:59.999Z.',
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
    description:
      'Sums tracked clicks of a window by one dimension: clicks, landed, started, registered, lead, deposit, ftd, revenue; by campaign, sub1 and day also cost. ' +
      'Each counts clicks that reached the step, on the day of the click. totals cover the whole slice. truncated true: rows were cut at 500; narrow the window or add campaign_id.',
    fields: {
      dimension: 'What each row is.',
      date_from: 'Start, inclusive, ISO 8601 UTC, as 2026-03-01. At most 92 days before date_to.',
      date_to: 'End, inclusive. A date alone is its midnight: for a whole day write 2026-03-31T23:59:59.999Z.',
      campaign_id: ONLY_CAMPAIGN,
    },
  }),
]
