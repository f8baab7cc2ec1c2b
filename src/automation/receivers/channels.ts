/** Sends a message by the channel of its receiver: a webhook, a mail, or a bot in a Telegram chat. */
import { type Dispatcher } from 'undici'
import type { MessageBody } from '../../contract/alerts.ts'
import { toWireId } from '../../contract/ids.ts'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import { linkTo, sendMail } from '../../ground/mail/mail.ts'
import type { Ground } from '../../ground/room.ts'
import { retryAfterMs } from '../../outgoing/deliveries/schedule.ts'
import { isSuccess, sendCall } from '../../outgoing/deliveries/send.ts'
import { liveBots } from '../../telegram/bots/rows.ts'
import { silenceBot } from '../../telegram/bots/silence.ts'
import { callTelegram } from '../../telegram/bots/telegram.ts'
import type { AttemptOutcome } from './outcomes.ts'
import type { StoredReceiver } from './rows.ts'
import { signedHeaders } from './signing.ts'
import type { ClaimedMessage } from './turns.ts'
import { subjectOf, messageInWords } from './words.ts'

/** `agent` calls public addresses only. `signal` ends calls of webhooks when the process closes. */
export type Channels = Pick<Ground, 'db' | 'config' | 'log' | 'secrets'> & {
  readonly agent: Dispatcher
  readonly signal?: AbortSignal
}

type Of<Type extends StoredReceiver['type']> = Extract<StoredReceiver, { readonly type: Type }>

/** Sends a claimed message once. */
export async function sendByChannel(channels: Channels, message: ClaimedMessage): Promise<AttemptOutcome> {
  const { receiver } = message
  const body = withAddresses(channels, message.body)
  if (receiver.type === 'webhook') return await callWebhook(channels, receiver, message.id, body)
  if (receiver.type === 'telegram') return await writeToChat(channels, receiver, body)
  if (channels.config.smtpUrl === undefined)
    return { is: 'failed', error: 'SMTP_URL is not set, so no mail can be sent' }
  const mail = { to: receiver.email, subject: subjectOf(body), text: messageInWords(body) }
  return (await sendMail(channels, mail)) === 'failed'
    ? { is: 'failed', error: 'the mail server has not taken the mail; the log says why' }
    : { is: 'sent' }
}

/** The body with whole addresses instead of paths. */
function withAddresses({ config }: Pick<Ground, 'config'>, body: MessageBody): MessageBody {
  const url = linkTo(config, body.url, undefined)
  if (body.type !== 'digest') return { ...body, url }
  return { ...body, url, items: body.items.map(item => ({ ...item, url: linkTo(config, item.url, undefined) })) }
}

async function callWebhook(
  { agent, signal, secrets }: Channels,
  { url, secret, former_secret, former_secret_until }: Of<'webhook'>,
  id: string,
  content: MessageBody,
): Promise<AttemptOutcome> {
  const now = Date.now()
  const isFormerGood = former_secret_until !== null && Date.parse(former_secret_until) > now
  const body = JSON.stringify(content)
  const keys = [secret, isFormerGood ? former_secret : null].flatMap(sealed =>
    sealed === null ? [] : [secrets.open(sealed)],
  )
  const headers = { 'content-type': 'application/json', ...signedHeaders(keys, toWireId(id), now, body) }
  const outcome = await sendCall(agent, { method: 'POST', url, headers, body }, signal && { signal })
  if (isSuccess(outcome)) return { is: 'sent' }
  if (outcome.fault === 'broken_off') return { is: 'broken_off' }
  const error =
    outcome.status === null ? (outcome.error ?? 'it has not answered') : `it answered HTTP ${outcome.status}`
  return { is: 'failed', error, retry_after_ms: retryAfterMs(outcome.headers['retry-after']) }
}

async function writeToChat(
  { db, config, secrets }: Channels,
  { org_id, bot_id, chat_id }: Of<'telegram'>,
  body: MessageBody,
): Promise<AttemptOutcome> {
  const bot = await liveBots(db, org_id)
    .select(['token', 'token_state', 'send_after'])
    .where('id', '=', bot_id)
    .executeTakeFirst()
  if (bot === undefined) return { is: 'failed', error: 'its bot was deleted' }
  if (bot.token_state === 'revoked') return { is: 'failed', error: 'the token of its bot was revoked' }
  const silent_ms = bot.send_after === null ? 0 : Date.parse(bot.send_after) - Date.parse(await databaseTimeIn(db, 0))
  if (silent_ms > 0) return { is: 'again', after_ms: silent_ms }
  const answer = await callTelegram(config.telegramApiRoot, secrets.open(bot.token), 'sendMessage', {
    chat_id,
    text: messageInWords(body),
    link_preview_options: { is_disabled: true },
  })
  if (answer.ok) return { is: 'sent' }
  const { kind, description, retry_after = 1, migrate_to_chat_id } = answer
  if (migrate_to_chat_id !== undefined) return { is: 'again', after_ms: 0, chat_id: migrate_to_chat_id }
  if (kind !== 'later') return { is: 'failed', error: description }
  await silenceBot(db, { org_id, id: bot_id }, await databaseTimeIn(db, retry_after * 1000))
  return { is: 'again', after_ms: retry_after * 1000 }
}
