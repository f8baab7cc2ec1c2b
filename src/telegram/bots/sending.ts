/** The settings of a bot's messages and payments: welcome, words that unsubscribe, first names, checkouts, speed. */
import { refuse } from '../../contract/refusals.ts'
import { channelsIn, type Message, messageFault } from '../../contract/telegram-message.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'

type UpdateContext = Pick<Context<typeof api.updateBot>, 'db' | 'actor'>

/** The changed columns. Refuses `invalid_request` for a welcome that Telegram would reject or that links to an unknown channel. */
export async function sendingChanges(context: UpdateContext, body: api.BotChanges) {
  const { welcome, opt_out_words, keep_names, accept_payments, stars_rate, send_per_second } = body
  if (welcome) await requireSendable(context, welcome)
  return {
    ...(welcome === undefined
      ? {}
      : { welcome: (welcome === null ? null : JSON.stringify(welcome)) as Message | null }),
    ...(opt_out_words === undefined ? {} : { opt_out_words: [...new Set(opt_out_words)] }),
    ...(keep_names === undefined ? {} : { keep_names }),
    ...(accept_payments === undefined ? {} : { accept_payments }),
    ...(stars_rate === undefined ? {} : { stars_rate }),
    ...(send_per_second === undefined ? {} : { send_per_second }),
  }
}

async function requireSendable({ db, actor }: UpdateContext, message: Message): Promise<void> {
  const fault = messageFault(message)
  if (fault !== undefined) refuse('invalid_request', { error: `welcome: ${fault}` })
  const channels = channelsIn(message)
  if (channels.length === 0) return
  const found = await db
    .selectFrom('channels')
    .select('id')
    .where('org_id', '=', actor.org_id)
    .where('id', 'in', channels)
    .where('deleted_at', 'is', null)
    .execute()
  if (found.length < channels.length)
    refuse('invalid_request', { error: 'welcome: a button leads to a channel that does not exist' })
}
