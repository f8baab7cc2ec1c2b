/** Sends to a group of recipients and says what came of each. */
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

/** What is sent, by which bot. */
export type OutgoingMessage = {
  readonly org_id: number
  readonly broadcast_id: string
  readonly token: string
  readonly message: Message
  readonly paid: boolean
  readonly is_test?: boolean
}

type To = Pick<Recipient, 'telegram_user_id' | 'click_id' | 'name'>

/** What each message is filled in with, by the person's number. */
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

/** Reads what their messages say: each of the recipient's own click, and of it the links that channel buttons lead to. */
export async function readFillings(
  { db, database }: Sending,
  { org_id, broadcast_id, message }: OutgoingMessage,
  recipients: readonly To[],
): Promise<MessageFillings> {
  const ids = recipients.flatMap(({ click_id }) => (click_id === null ? [] : [click_id]))
  const { rows } =
    ids.length === 0 ? { rows: [] } : await database.worker.query<Click>(CLICKS, [org_id, ids, ...boundsOf(ids)])
  const clicks = new Map(rows.map(click => [click.id, click]))
  const filled = recipients.map(async ({ telegram_user_id, click_id, name }) => {
    const click = click_id === null ? undefined : clicks.get(click_id)
    const links = new Map<string, string>()
    // Who has come without a click is given no link: nobody could tell whose join it would be.
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
  parcel: OutgoingMessage,
  to: To,
  fillings: MessageFillings,
): Promise<SendAnswer> {
  const { values = {}, links = new Map<string, string>() } = fillings.get(to.telegram_user_id) ?? {}
  return sendMessage(config.telegramApiRoot, parcel.token, parcel.message, {
    chat_id: to.telegram_user_id,
    values,
    links,
    opt_out: optOutCallback(parcel.broadcast_id),
    paid: parcel.paid,
    is_test: parcel.is_test ?? false,
  })
}

type Sent = { readonly message: Message; readonly on_unknown: string }

/** What a recipient's row becomes by Telegram's answer. */
export function outcomeOfSend(recipient: Recipient, answer: SendAnswer, { message, on_unknown }: Sent): SendOutcome {
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

/** Surely not sent: it waits again. */
export const requeuedSend = ({ telegram_user_id, isAgain }: Recipient): SendOutcome => ({
  telegram_user_id,
  state: 'queued',
  reason: isAgain ? SENT_AGAIN : null,
  message_id: null,
})

/** Telegram's words, where it refuses the message whoever it is for. */
export const faultOfMessageIn = (failure: Failure, message: Message): string | undefined =>
  failure.kind === 'refused' && reachabilityAfter(failure, message) === undefined ? failure.description : undefined
