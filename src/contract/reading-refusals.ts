/** Refusals of reads: windows, filters, cursors. Part of the catalogue. */
import { LADDER } from './ladder.ts'

export const READING_REFUSALS = {
  invalid_dimension: {
    status: 400,
    error: 'invalid dimension',
    code: 'invalid_dimension',
    hint: 'dimension is required: one of campaign, geo, sub1, offer, day.',
  },
  tz_unknown: {
    status: 400,
    error: 'unknown time zone',
    code: 'tz_unknown',
    hint: 'Send an IANA name such as Europe/Kyiv. An offset such as +03:00 does not work, because it has no daylight saving time.',
  },
  tz_not_offered: {
    status: 400,
    error: 'time zone not offered here',
    code: 'tz_not_offered',
    hint: 'Reports count clicks in half hours of UTC, which the days of this zone do not match. Ask for dimension=day in UTC, or for another dimension over the same window.',
  },
  slots_incomplete: {
    status: 503,
    error: 'not counted yet',
    code: 'slots_incomplete',
    hint: 'The half hours of these days are being counted from their clicks. Try again in a minute, or ask for dimension=day.',
  },
  window_required: {
    status: 400,
    error: 'window required',
    code: 'window_required',
    hint: 'Send both date_from and date_to as ISO 8601.',
  },
  invalid_window: {
    status: 400,
    error: 'invalid window',
    code: 'invalid_window',
    hint: 'Send date_from and date_to as ISO 8601, date_to not before date_from.',
  },
  window_too_wide: {
    status: 400,
    error: 'window too wide',
    code: 'window_too_wide',
    hint: 'A window covers at most 92 days.',
  },
  invalid_question: {
    status: 400,
    error: 'invalid question',
    code: 'invalid_question',
    hint: 'Compare the question with POST /api/explore in /api/docs.',
  },
  question_too_wide: {
    status: 400,
    error: 'the question is too wide',
    code: 'question_too_wide',
    hint: 'Choose fewer days, fewer levels or another filter, such as one campaign.',
  },
  explore_busy: {
    status: 503,
    error: 'other questions are being answered',
    code: 'explore_busy',
    hint: 'Questions are answered one after another. Try again in a few seconds.',
  },
  invalid_status: {
    status: 400,
    error: 'invalid status',
    code: 'invalid_status',
    hint: `status is one of ${LADDER.join(', ')}.`,
  },
  invalid_tracked: {
    status: 400,
    error: 'invalid tracked',
    code: 'invalid_tracked',
    hint: 'tracked is one of true, false, all.',
  },
  invalid_cursor: {
    status: 400,
    error: 'invalid cursor',
    code: 'invalid_cursor',
    hint: 'Send next_cursor back unchanged, with the same filters, or start again without a cursor.',
  },
  read_timed_out: {
    status: 500,
    error: 'the read took too long and was cancelled',
    code: 'read_timed_out',
    hint: 'Ask for less: a narrower window, or one campaign_id. If that fails too, try again in a minute.',
  },
} as const
