/** What is refused about bots. */
export const TELEGRAM_REFUSALS = {
  bot_hook_taken: {
    status: 409,
    error: 'another program has the hook of this bot',
    code: 'bot_hook_taken',
    hint: 'Choose: mode relay passes every update on to it, mode copy leaves it the hook and takes copies, take_over: true takes the hook away from it.',
  },
  bot_in_use: {
    status: 409,
    error: 'this bot is in another organization',
    code: 'bot_in_use',
    hint: 'A bot tells its updates to one place. Delete it there first, or have its owner do so.',
  },
  bot_limit: {
    status: 409,
    error: 'the organization has 50 bots',
    code: 'bot_limit',
    hint: 'Delete one that is not used any more.',
  },
  bot_not_copied: {
    status: 409,
    error: 'this bot is not in copy mode',
    code: 'bot_not_copied',
    hint: 'Change its mode to copy first: its hook then stays with, or goes back to, your program.',
  },
  telegram_away: {
    status: 503,
    error: 'Telegram could not be reached',
    code: 'telegram_away',
    hint: 'Nothing has changed. Try again in a minute.',
  },
  bot_token_revoked: {
    status: 409,
    error: 'Telegram refuses the token of this bot',
    code: 'bot_token_revoked',
    hint: 'Get a new one from BotFather and send it with PATCH.',
  },
} as const
