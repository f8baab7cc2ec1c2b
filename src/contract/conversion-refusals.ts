/** Refusals of conversions and of their revisions; part of the catalogue. */
export const CONVERSION_REFUSALS = {
  click_not_found: { status: 403, error: 'click not found' },
  bot_not_found: { status: 403, error: 'bot not found' },
  bot_start_missing_telegram_user_id: {
    status: 422,
    error: 'bot_start needs payload.telegram_user_id',
    code: 'bot_start_missing_telegram_user_id',
    hint: 'Send the Telegram user id, so that this call and the start Sluice recorded become one event.',
  },
  rate_unknown: { status: 422, error: 'no rate is known for the currency', code: 'rate_unknown' },

  // Revisions of a conversion.
  amount_too_large: {
    status: 422,
    error: 'the amount is more than $1,000,000',
    code: 'amount_too_large',
    hint: 'A conversion is worth $1,000,000 at most.',
  },
  too_many_revisions: {
    status: 409,
    error: 'the conversion was revised 100 times',
    code: 'too_many_revisions',
    hint: 'Its last status is final. Check which two systems contradict each other.',
  },
  click_not_kept: {
    status: 409,
    error: 'the click of this conversion is no longer kept',
    code: 'click_not_kept',
    hint: 'Its month was deleted, so its status can no longer change.',
  },
  reconcile_file_unreadable: {
    status: 400,
    error: 'the file cannot be read',
    code: 'reconcile_file_unreadable',
    hint: 'Send CSV in UTF-8 with a line of titles such as click_id,transaction_id,amount,status,date, or name its columns.',
  },
  revision_file_unreadable: {
    status: 400,
    error: 'the file cannot be read',
    code: 'revision_file_unreadable',
    hint: 'Send CSV with a header line such as event_id,status,amount.',
  },
  revision_lines_wrong: {
    status: 400,
    error: 'some lines are wrong',
    code: 'revision_lines_wrong',
    hint: 'Nothing was changed. Correct or remove the lines; a dry run lists all of them.',
  },
  conversion_unknown: {
    status: 404,
    error: 'no conversion of this transaction is recorded on the click',
    code: 'conversion_unknown',
    hint: 'Have the network send the conversion, then run this again.',
  },
  conversion_ambiguous: {
    status: 409,
    error: 'several conversions on the click match',
    code: 'conversion_ambiguous',
    hint: 'Name it by its transaction id or its event id.',
  },
  not_yours: {
    status: 403,
    error: 'the conversion was not recorded by this network',
    code: 'not_yours',
    hint: 'A network can only change conversions it reported itself. Change it in the dashboard.',
  },
} as const
