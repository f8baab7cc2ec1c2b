/** Refusals of rules. Part of the catalogue. */
export const RULE_REFUSALS = {
  spend_by_day_only: {
    status: 422,
    error: 'the spend of a campaign is known by day alone',
    code: 'spend_by_day_only',
    hint: 'Check the rule once a day over whole days, or use conditions without spend.',
  },
  asked_before: { status: 409, error: 'this check was confirmed already', code: 'asked_before' },
  check_outdated: {
    status: 409,
    error: 'the check is older than 24 hours, or the rule has changed since',
    code: 'check_outdated',
    hint: 'Check the rule again.',
  },
} as const
