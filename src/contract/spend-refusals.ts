/** Every no of ad spend: files of it, and amounts that are spread. Part of the catalogue. */
export const SPEND_REFUSALS = {
  spend_file_unreadable: {
    status: 400,
    error: 'the file cannot be read',
    code: 'spend_file_unreadable',
    hint: 'Send CSV with a line of titles such as day,campaign,sub1,amount, or name its columns.',
  },
  spend_lines_wrong: {
    status: 400,
    error: 'some lines are wrong',
    code: 'spend_lines_wrong',
    hint: 'Nothing was imported. Put the lines right, or name them in leave_out; a dry run shows all of them.',
  },
  no_clicks_to_spread: {
    status: 409,
    error: 'there are no tracked clicks in this window',
    code: 'no_clicks_to_spread',
    hint: 'Choose a window with clicks, or record the amount by day.',
  },
  cells_taken: {
    status: 409,
    error: 'spend is recorded there already',
    code: 'cells_taken',
    hint: 'What is recorded by day goes before what is spread. Delete it there, or choose a window without it.',
  },
  spread_overlaps: {
    status: 409,
    error: 'an amount was spread over a part of this window already',
    code: 'spread_overlaps',
    hint: 'Take that one back, or begin where it ends.',
  },
  partial_day: {
    status: 409,
    error: 'a UTC day is covered in part',
    code: 'partial_day',
    hint: 'Let the window begin and end at a midnight UTC, or record the amount by day.',
  },
} as const
