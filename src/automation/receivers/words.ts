/** Messages as people read them, in mails and chats. */
import { ALERT_WORDS, type AlertBody, type AlertCause, type MessageBody } from '../../contract/alerts.ts'

/** Telegram's limit is 4096 letters; the address behind the text needs some of them. */
const LONGEST_TEXT = 3500

/** The subject of a mail. */
export function subjectOf(body: MessageBody): string {
  if (body.type === 'digest') return `Sluice: ${body.text}`
  if (body.type === 'test') return 'Sluice: test message'
  const name = body.object?.name ?? ''
  const words = `${ALERT_WORDS[body.type]}${body.phase === 'over' ? ', over' : ''}`
  return `Sluice: ${name === '' ? words : `${name}: ${words}`}`.replaceAll(/\s+/g, ' ').slice(0, 200)
}

/** The whole text, with the address of the page at the end. */
export function messageInWords(body: MessageBody): string {
  const text = body.type === 'digest' ? body.items.map(item => linesOf(item)).join('\n\n') : linesOf(body)
  return `${text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text}\n\n${body.url}`
}

function linesOf({ text, causes }: AlertBody): string {
  return [text, ...causes.map(causeInWords)].join('\n')
}

const causeInWords = ({ dimension, label, share }: AlertCause): string =>
  `– ${label}: ${Math.round(share * 100)} % of the fall${dimension === 'change' ? ' came after it' : ''}`
