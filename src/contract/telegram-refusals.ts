/** The refusals of bots, channels, subscribers and broadcasts. */
export const TELEGRAM_REFUSALS = {
  bot_hook_taken: {
    status: 409,
    error: 'another program has the webhook of this bot',
    code: 'bot_hook_taken',
    hint: 'Choose mode relay to forward every update to that program, mode copy to leave it the webhook and receive copies, or take_over: true to take the webhook from it.',
  },
  bot_in_use: {
    status: 409,
    error: 'this bot is in another organization',
    code: 'bot_in_use',
    hint: 'A bot can be in one organization only. Delete it there first, or ask its owner to.',
  },
  bot_limit: {
    status: 409,
    error: 'the organization has 50 bots',
    code: 'bot_limit',
    hint: 'Delete one that is no longer used.',
  },
  bot_not_copied: {
    status: 409,
    error: 'this bot is not in copy mode',
    code: 'bot_not_copied',
    hint: 'Change its mode to copy first. Your program then keeps its webhook or gets it back.',
  },
  bot_not_admin: {
    status: 422,
    error: 'the bot cannot create invite links there',
    code: 'bot_not_admin',
    hint: 'Make the bot an administrator of the channel or group, with the right to invite users.',
  },
  channel_limit: {
    status: 409,
    error: 'the organization has 100 channels and groups',
    code: 'channel_limit',
    hint: 'Delete one that is no longer used.',
  },
  subscriber_limit: {
    status: 409,
    error: 'a bot has at most 5,000,000 subscribers',
    code: 'subscriber_limit',
    hint: 'Nothing was imported.',
  },
  telegram_away: {
    status: 503,
    error: 'Telegram could not be reached',
    code: 'telegram_away',
    hint: 'Nothing has changed. Try again in a minute.',
  },
  bot_token_revoked: {
    status: 409,
    error: 'Telegram rejects the token of this bot',
    code: 'bot_token_revoked',
    hint: 'Get a new token from BotFather and send it with PATCH.',
  },
  broadcast_state: {
    status: 409,
    error: 'the state of the broadcast does not allow this',
    code: 'broadcast_state',
    hint: 'Read it again: it may have started, been paused or ended in the meantime.',
  },
  broadcast_limit: {
    status: 409,
    error: 'this bot already has twenty waiting broadcasts',
    code: 'broadcast_limit',
    hint: 'Wait for one to end, or stop one.',
  },
  broadcast_audience_changed: {
    status: 409,
    error: 'the size of the audience has changed',
    code: 'broadcast_audience_changed',
    hint: 'Count the audience again and start the broadcast with the new number.',
  },
  broadcast_message_invalid: {
    status: 422,
    error: 'the message cannot be sent',
    code: 'broadcast_message_invalid',
    hint: 'Correct the message. Nothing was sent.',
  },
  broadcast_payment_unconfirmed: {
    status: 409,
    error: 'this broadcast is paid for in Stars',
    code: 'broadcast_payment_unconfirmed',
    hint: 'Send confirmation: "PAID", or set paid to false.',
  },
} as const
