/** What a bot says by itself, and takes: its welcome, words that opt out, names, payments, its speed. */
import { refuse } from '../../contract/refusals.ts'
import { channelsIn, type Message, messageFault } from '../../contract/telegram-message.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'

type Changing = Pick<Context<typeof api.updateBot>, 'db' | 'actor'>

/** The columns of what is sent. Refuses `invalid_request` for a welcome that Telegram would refuse, or that leads to a channel that is not there. */
export async function sendingChanges(context: Changing, body: api.BotChanges) {
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

async function requireSendable({ db, actor }: Changing, message: Message): Promise<void> {
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
    refuse('invalid_request', { error: 'welcome: a button leads to a channel that is not there' })
}
