/** Fills in and sends the messages of a group, and derives each recipient's outcome from Telegram's answer. */
import { boundsOf, toWireId } from '../../contract/ids.ts'
import { fieldsOf } from '../../contract/json.ts'
import { SUBS } from '../../contract/fields.ts'
import { channelsIn, type Message } from '../../contract/telegram-message.ts'
import type { Ground } from '../../ground/room.ts'
import { linkForClick } from '../../traffic/invite-links/invite-links.ts'
import type { Failure } from '../bots/telegram.ts'
import { type MessageValues, optOutCallback, sendMessage } from '../messages/messages.ts'
import { reachabilityAfter } from '../subscribers/reachability.ts'
import { SENT_AGAIN, outcomeOfLostAnswer, type Recipient, type SendOutcome } from './sends.ts'

type Sending = Pick<Ground, 'db' | 'database' | 'config'>

/** The message of a broadcast, and the bot that sends it. */
export type OutgoingMessage = {
  readonly org_id: number
  readonly broadcast_id: string
  readonly token: string
  readonly message: Message
  readonly paid: boolean
  readonly is_test?: boolean
}

type MessageRecipient = Pick<Recipient, 'telegram_user_id' | 'click_id' | 'name'>

/** The macro values and channel links of each recipient, by Telegram id. */
export type MessageFillings = ReadonlyMap<
  string,
  { readonly values: MessageValues; readonly links: ReadonlyMap<string, string> }
>

const CLICKS = `
  select id, campaign_id, ${SUBS.join(', ')}
  from clicks
  where org_id = $1 and id = any($2::uuid[]) and id between $3 and $4`

type Click = { readonly id: string; readonly campaign_id: string | null } & Readonly<
  Record<(typeof SUBS)[number], string | null>
>

/** Reads each recipient's click and the invite links of channel buttons for it. */
export async function readFillings(
  { db, database }: Sending,
  { org_id, broadcast_id, message }: OutgoingMessage,
  recipients: readonly MessageRecipient[],
): Promise<MessageFillings> {
  const ids = recipients.flatMap(({ click_id }) => (click_id === null ? [] : [click_id]))
  const { rows } =
    ids.length === 0 ? { rows: [] } : await database.worker.query<Click>(CLICKS, [org_id, ids, ...boundsOf(ids)])
  const clicks = new Map(rows.map(click => [click.id, click]))
  const filled = recipients.map(async ({ telegram_user_id, click_id, name }) => {
    const click = click_id === null ? undefined : clicks.get(click_id)
    const links = new Map<string, string>()
    // A recipient without a click gets no invite link, because the join could not be attributed.
    if (click !== undefined)
      for (const channel_id of channelsIn(message)) {
        const link = await linkForClick(db, { org_id, channel_id, click_id: click.id, campaign_id: click.campaign_id })
        if (link !== undefined) links.set(channel_id, link)
      }
    const { id, campaign_id, ...subs } = click ?? { id: null, campaign_id: null }
    const values: MessageValues = {
      ...subs,
      click_id: id && toWireId(id),
      campaign_id: campaign_id && toWireId(campaign_id),
      broadcast_id: toWireId(broadcast_id),
      first_name: name,
    }
    return [telegram_user_id, { values, links }] as const
  })
  return new Map(await Promise.all(filled))
}

export type SendAnswer = Awaited<ReturnType<typeof sendMessage>>

/** Sends one message; never throws. */
export function sendOne(
  { config }: Sending,
  outgoing: OutgoingMessage,
  to: MessageRecipient,
  fillings: MessageFillings,
): Promise<SendAnswer> {
  const { values = {}, links = new Map<string, string>() } = fillings.get(to.telegram_user_id) ?? {}
  return sendMessage(config.telegramApiRoot, outgoing.token, outgoing.message, {
    chat_id: to.telegram_user_id,
    values,
    links,
    opt_out: optOutCallback(outgoing.broadcast_id),
    paid: outgoing.paid,
    is_test: outgoing.is_test ?? false,
  })
}

type SentMessage = { readonly message: Message; readonly on_unknown: string }

/** The outcome of a recipient by Telegram's answer. */
export function outcomeOfSend(
  recipient: Recipient,
  answer: SendAnswer,
  { message, on_unknown }: SentMessage,
): SendOutcome {
  const { telegram_user_id } = recipient
  if (answer.ok) {
    const { message_id } = fieldsOf(answer.result)
    return {
      telegram_user_id,
      state: 'sent',
      reason: null,
      message_id: typeof message_id === 'number' ? message_id : null,
    }
  }
  if (answer.kind === 'unknown') return outcomeOfLostAnswer(on_unknown, recipient, answer.description)
  if (answer.kind !== 'refused') return requeuedSend(recipient)
  const state = reachabilityAfter(answer, message)
  return {
    telegram_user_id,
    state: state === undefined || state === 'unreachable' ? 'failed' : state,
    reason: answer.description,
    message_id: null,
  }
}

/** The outcome of a message that was certainly not sent: it is queued again. */
export const requeuedSend = ({ telegram_user_id, isAgain }: Recipient): SendOutcome => ({
  telegram_user_id,
  state: 'queued',
  reason: isAgain ? SENT_AGAIN : null,
  message_id: null,
})

/** Telegram's text if it rejects the message for everyone. */
export const faultOfMessageIn = (failure: Failure, message: Message): string | undefined =>
  failure.kind === 'refused' && reachabilityAfter(failure, message) === undefined ? failure.description : undefined
