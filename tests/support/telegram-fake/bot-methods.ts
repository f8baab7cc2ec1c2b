// Methods of the fake Bot API about the bot itself: its user, webhook, pending updates and Stars.
import { type BotState, botUser, fail, seconds, type World, words } from './world.ts'

export type Params = Readonly<Record<string, unknown>>
export type Method = (world: World, bot: BotState, params: Params) => unknown

const PORTS = ['', '443', '80', '88', '8443']
const UPDATE_TYPES: readonly string[] =
  `message edited_message channel_post edited_channel_post business_connection business_message edited_business_message
  deleted_business_messages guest_message stopped_message_generation message_reaction message_reaction_count inline_query chosen_inline_result
  callback_query shipping_query pre_checkout_query purchased_paid_media poll poll_answer my_chat_member chat_member chat_join_request chat_boost
  removed_chat_boost managed_bot subscription`.split(/\s+/)

export const BOT_METHODS: Readonly<Record<string, Method>> = {
  getMe: (_, bot) => ({
    ...botUser(bot),
    can_join_groups: true,
    can_read_all_group_messages: false,
    supports_inline_queries: false,
  }),

  setWebhook(world, bot, params) {
    const { url, secret_token, max_connections = 40, allowed_updates, drop_pending_updates } = params
    if (url === undefined || url === '') {
      bot.hook = undefined
      return true
    }
    const { hostname, protocol, port } =
      URL.parse(words(url)) ?? fail(400, 'Bad Request: invalid webhook URL specified')
    if (protocol !== 'https:') fail(400, 'Bad Request: bad webhook: An HTTPS URL must be provided for webhook')
    if (!PORTS.includes(port))
      fail(400, 'Bad Request: bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443')
    if (hostname.endsWith('.invalid'))
      fail(400, 'Bad Request: bad webhook: Failed to resolve host: Name or service not known')
    if (secret_token !== undefined && !/^[\w-]{1,256}$/.test(words(secret_token)))
      fail(400, 'Bad Request: secret token contains unallowed characters')
    const connections = Number(max_connections)
    if (!(connections >= 1 && connections <= 100)) fail(400, 'Bad Request: max_connections must be from 1 to 100')
    setAllowed(bot, allowed_updates)
    if (drop_pending_updates === true) bot.pending.length = 0
    const secret = secret_token === undefined ? undefined : words(secret_token)
    bot.hook = { url: words(url), secret, max_connections: connections, set_at: world.now() }
    bot.gone_since = undefined
    bot.last_error = undefined
    world.pump(bot)
    return true
  },

  deleteWebhook(_, bot, { drop_pending_updates }) {
    if (drop_pending_updates === true) bot.pending.length = 0
    bot.hook = undefined
    return true
  },

  getWebhookInfo: (_, { hook, pending, allowed, last_error }) => ({
    url: hook?.url ?? '',
    has_custom_certificate: false,
    pending_update_count: pending.length,
    ...(hook === undefined ? {} : { max_connections: hook.max_connections, ip_address: '192.0.2.1' }),
    ...(last_error === undefined
      ? {}
      : { last_error_date: seconds(last_error.at), last_error_message: last_error.message }),
    ...(allowed === undefined || allowed.length === 0 ? {} : { allowed_updates: allowed }),
  }),

  getUpdates(_, bot, { offset, limit = 100, allowed_updates }) {
    if (bot.hook !== undefined)
      fail(
        409,
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
      )
    setAllowed(bot, allowed_updates)
    const from = Number(offset ?? 0)
    const kept = bot.pending.filter(({ update }) => update.update_id >= from)
    bot.pending.splice(0, bot.pending.length, ...kept)
    return kept.slice(0, Number(limit)).map(({ update }) => update)
  },

  getMyStarBalance: (_, { balance }) => ({ amount: balance }),

  getStarTransactions(_, { payments }, { offset = 0, limit = 100 }) {
    const all = payments
      .filter(({ currency }) => currency === 'XTR')
      .flatMap(({ charge_id, user, total_amount, payload, at, refunded_at, period_s }) => [
        {
          id: charge_id,
          amount: total_amount,
          date: seconds(at),
          source: {
            type: 'user',
            transaction_type: 'invoice_payment',
            user: { id: user, is_bot: false, first_name: 'Ann' },
            invoice_payload: payload,
            ...(period_s === undefined ? {} : { subscription_period: period_s }),
          },
        },
        ...(refunded_at === undefined
          ? []
          : [
              {
                id: charge_id,
                amount: total_amount,
                date: seconds(refunded_at),
                receiver: { type: 'user', transaction_type: 'invoice_payment', user: { id: user } },
              },
            ]),
      ])
      .sort((a, b) => a.date - b.date)
    return { transactions: all.slice(Number(offset), Number(offset) + Number(limit)) }
  },
}

/** Sets the subscribed update types; without a list the previous one stays. */
function setAllowed(bot: BotState, sent: unknown): void {
  if (sent === undefined) return
  const list = Array.isArray(sent)
    ? sent.map(String)
    : fail(400, "Bad Request: can't parse allowed_updates JSON object")
  const unknown = list.find(kind => !UPDATE_TYPES.includes(kind))
  // Telegram ignores unknown types; here they are refused, because they are misspelt.
  if (unknown !== undefined) fail(400, `Bad Request: there are no updates ${unknown}`)
  bot.allowed = list
}
