/** Refusals of ad spend: files, and amounts that are spread. Part of the catalogue. */
export const SPEND_REFUSALS = {
  spend_file_unreadable: {
    status: 400,
    error: 'the file cannot be read',
    code: 'spend_file_unreadable',
    hint: 'Send CSV with a header line such as day,campaign,sub1,amount, or name its columns.',
  },
  spend_lines_wrong: {
    status: 400,
    error: 'some lines are wrong',
    code: 'spend_lines_wrong',
    hint: 'Nothing was imported. Correct the lines, or name them in leave_out; a dry run lists all of them.',
  },
  no_clicks_to_spread: {
    status: 409,
    error: 'there are no tracked clicks in this window',
    code: 'no_clicks_to_spread',
    hint: 'Choose a window with clicks, or record the amount by day.',
  },
  cells_taken: {
    status: 409,
    error: 'spend is already recorded there',
    code: 'cells_taken',
    hint: 'Amounts recorded by day take precedence over spread ones. Delete them, or choose a window without them.',
  },
  spread_overlaps: {
    status: 409,
    error: 'an amount is already spread over a part of this window',
    code: 'spread_overlaps',
    hint: 'Undo that one, or begin where it ends.',
  },
  partial_day: {
    status: 409,
    error: 'the window covers only a part of a UTC day',
    code: 'partial_day',
    hint: 'Begin and end the window at midnight UTC, or record the amount by day.',
  },
} as const
