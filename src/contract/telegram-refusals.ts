/** What is refused about bots, channels, and what bots send. */
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
  bot_not_admin: {
    status: 422,
    error: 'the bot may not make invite links there',
    code: 'bot_not_admin',
    hint: 'Make the bot an administrator of the channel or group, with the right to invite users.',
  },
  channel_limit: {
    status: 409,
    error: 'the organization has 100 channels and groups',
    code: 'channel_limit',
    hint: 'Delete one that is not used any more.',
  },
  subscriber_limit: {
    status: 409,
    error: 'a bot has at most 5,000,000 subscribers',
    code: 'subscriber_limit',
    hint: 'Nobody of this call was added.',
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
  broadcast_state: {
    status: 409,
    error: 'the broadcast is not in a state for this',
    code: 'broadcast_state',
    hint: 'Read it again: it may have begun, been paused or ended meanwhile.',
  },
  broadcast_limit: {
    status: 409,
    error: 'twenty broadcasts of this bot wait already',
    code: 'broadcast_limit',
    hint: 'Wait for one to end, or stop one.',
  },
  broadcast_audience_changed: {
    status: 409,
    error: 'the audience is not what you have seen',
    code: 'broadcast_audience_changed',
    hint: 'Count it again, and start it with the new number.',
  },
  broadcast_message_invalid: {
    status: 422,
    error: 'the message cannot be sent',
    code: 'broadcast_message_invalid',
    hint: 'Mend the message: nobody has been written to.',
  },
  broadcast_payment_unconfirmed: {
    status: 409,
    error: 'this broadcast is paid for in Stars',
    code: 'broadcast_payment_unconfirmed',
    hint: 'Send confirmation: "PAID", or make it a broadcast that is not paid.',
  },
} as const
