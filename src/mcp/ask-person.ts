/**
 * Asks the person at a host that can show a question, before a destructive call of a key that asks first. The answer to the call is then a question
 * with the numbers of its dry run, and the host repeats the call with the person's answer. Only revision 2026-07-28 carries that without a session;
 * other hosts get the refusal `confirmation_needed` and make the dry run themselves.
 */
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
} from '@modelcontextprotocol/server'
import { fieldsOf } from '../contract/json.ts'
import { Refusal, refusalBody } from '../contract/refusals.ts'
import { answerText, withEscapes } from './answer-text.ts'
import type { Json } from './derive.ts'

/** The parts of a message that carry a question and its answer. */
type Exchange = {
  readonly envelope?: unknown
  readonly inputResponses?: Record<string, unknown>
  requestState(): unknown
}

const QUESTION = 'confirm'
/** A person reads no more before they answer. */
const LONGEST = 1000

/** Whether the host shows questions to its person. */
export function canAsk({ envelope }: Exchange): boolean {
  return fieldsOf(fieldsOf(envelope)[CLIENT_CAPABILITIES_META_KEY])['elicitation'] !== undefined
}

/** Runs `call` once the person has agreed, with the confirmation of the dry run; asks them first. Returns the dry run's refusal if it is refused. */
export async function askingPerson(
  exchange: Exchange,
  title: string,
  call: (added: Json) => Promise<CallToolResult>,
): Promise<CallToolResult | InputRequiredResult> {
  const answer = inputResponse(exchange.inputResponses, QUESTION)
  if (answer.kind === 'elicit') {
    const confirmation = exchange.requestState()
    if (answer.action === 'accept' && typeof confirmation === 'string') return await call({ confirmation })
    return declined()
  }
  const tried = await call({ dry_run: true })
  const effects = fieldsOf(tried.structuredContent)
  const confirmation = effects['confirmation']
  if (tried.isError === true || typeof confirmation !== 'string') return tried
  const message = questionFor(title, effects)
  const asked = inputRequired.elicit({ message, requestedSchema: { type: 'object', properties: {} } })
  return inputRequired({ inputRequests: { [QUESTION]: asked }, requestState: confirmation })
}

function declined(): CallToolResult {
  const refusal = new Refusal('confirmation_needed', {
    error: 'the person did not agree, so nothing was done',
    hint: 'Ask them what they want instead. Do not repeat the call.',
  })
  const told: Json = { status: refusal.status, ...refusalBody(refusal, 'other') }
  return { content: [{ type: 'text', text: answerText(told) }], structuredContent: told, isError: true }
}

const shown = (value: unknown): string =>
  value === null || value === '' ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value)

/** The question, with what the dry run tells. Names and addresses come from strangers, so invisible characters are escaped. */
function questionFor(title: string, effects: Readonly<Record<string, unknown>>): string {
  const listed = (name: string) => (Array.isArray(effects[name]) ? effects[name].map(fieldsOf) : [])
  const changes = listed('changes').map(({ name, change, fields }) => {
    const differing = change === 'changed' && Array.isArray(fields) ? fields.map(fieldsOf) : []
    const words = differing.map(field =>
      'is_secret' in field
        ? `${String(field['name'])} changes`
        : `${String(field['name'])} ${shown(field['before'])} → ${shown(field['after'])}`,
    )
    return `“${String(name)}” is ${String(change)}${words.length === 0 ? '' : `: ${words.join(', ')}`}.`
  })
  const visitors = fieldsOf(effects['visitors_elsewhere'])
  const fallback = listed('campaigns_on_fallback').map(({ name }) => `“${String(name)}”`)
  const charge = fieldsOf(effects['charge'])['amount']
  const deliveries = listed('deliveries').map(({ name }) => String(name))
  const words = [
    `${title}?`,
    ...changes,
    ...(typeof visitors['at_most'] === 'number'
      ? [`At most ${visitors['at_most']} visitors of the last ${String(visitors['days'])} days would go elsewhere.`]
      : []),
    ...(fallback.length === 0 ? [] : [`These campaigns go to their fallback: ${fallback.join(', ')}.`]),
    ...(typeof charge === 'string' ? [`Charge: $${charge}.`] : []),
    ...(deliveries.length === 0 ? [] : [`It is reported to ${deliveries.join(', ')}.`]),
  ]
  const text = withEscapes(words.join(' '))
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`
}
