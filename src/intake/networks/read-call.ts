/**
 * From what a network called to a conversion: which parameter says what, and what its words mean. What cannot be read exactly is
 * refused with a diagnosis, because a network is told nothing that would make it send anything else.
 */

import { USD } from '../../contract/currencies.ts'
import type { EventType } from '../../contract/event-types.ts'
import { Amount } from '../../contract/fields.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { type EventStatus, hasAmount, REASON_LENGTH } from '../../contract/revisions.ts'
import { faithful } from '../../contract/texts.ts'
import { ConversionDraft } from '../events/api.ts'
import { readConversion } from '../events/intake.ts'
import type { Conversion, Revision } from '../events/items.ts'
import { Diagnosed, isMacro } from '../refused-events/diagnosis.ts'
import { FROM_CALL, type ParameterMap, type StatusMap } from './api.ts'
import { meaningOf, type Said } from './meaning.ts'

/** What a call brought, by parameter name in lower case; of a name that was sent twice the last one that says something. */
export type Fields = Readonly<Record<string, string>>

/** How a network is to be understood. */
export type Reading = {
  readonly parameters: ParameterMap
  readonly statuses: StatusMap
  readonly default_type: EventType | null
  readonly unpaid_types: readonly EventType[]
  /** What a call is in that names no currency: a code, or `from_call`, where it must name one. */
  readonly currency: string
  /** Whether what is in another currency than dollars is turned into them, or refused. */
  readonly convert: boolean
  /** Whether a later paid word with another amount changes what is recorded. */
  readonly amend?: boolean | null
  /** After so many days what it holds is approved. */
  readonly hold_days?: number | null
}

const MOST_FIELDS = 100
const NAME_LENGTH = 64
const VALUE_LENGTH = 1000
/** What is kept of a call has room for so much. */
const ALL_LENGTH = 6000
/** Looking at each number takes time, and what a network sends is shorter by far. */
const EXACT_LENGTH = 16_384

/** The parameters of a query, a form or a JSON object; what is none of them holds no fields. Never throws. */
export function readFields(query: string, body: Buffer | undefined): Fields {
  const fields = new Map<string, string>()
  let room = ALL_LENGTH
  const isFull = () => room < 0 || fields.size >= MOST_FIELDS
  const put = (sentName: string, sentValue: string) => {
    if (isFull()) return
    // `&amp;` and a second `?` stand in addresses that went through an editor or were pasted together.
    const plain = sentName.trim().replace(/^(\?|amp;)+/i, '')
    const name = faithful(plain).slice(0, NAME_LENGTH).toLowerCase().toWellFormed()
    const value = faithful(sentValue.trim()).slice(0, VALUE_LENGTH).toWellFormed()
    room -= name.length + value.length
    if (room < 0 || (value === '' && fields.has(name))) return
    fields.set(name, value)
  }
  for (const [name, value] of new URLSearchParams(query)) put(name, value)
  const text = body === undefined ? '' : body.toString().trim()
  if (!text.startsWith('{')) for (const [name, value] of new URLSearchParams(text)) put(name, value)
  else for (const [name, value] of Object.entries(objectOf(text))) if (isPlain(value)) put(name, String(value))
  return Object.fromEntries(fields)
}

/** A transaction id of 19 digits stays as it was written: as a float, two of them would be one. */
function asSent(_name: string, value: unknown, { source = '' }: { source?: string } = {}): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? source : value
}

function objectOf(text: string): object {
  try {
    return (text.length > EXACT_LENGTH ? JSON.parse(text) : JSON.parse(text, asSent)) as object
  } catch {
    return {}
  }
}

const isPlain = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** The click id a call names: the first parameter that holds one, else the first that was sent. */
export function clickOf(fields: Fields, { click_id }: ParameterMap): { name: string; text: string } | undefined {
  const sent = click_id.flatMap(name => {
    const text = sentAs(fields, name)
    return text === undefined ? [] : [{ name, text }]
  })
  return sent.find(({ text }) => toUuid(text) !== undefined) ?? sent[0]
}

/** The network's word for what happened, as it was sent. */
export const statusOf = (fields: Fields, { status }: ParameterMap): string | undefined => firstOf(fields, status)

/** What says which conversion a call is of, as it was sent. */
export function identityOf(fields: Fields, parameters: ParameterMap) {
  const click = clickOf(fields, parameters)
  return { click, nonce: click && transactionOf(fields, parameters, click.name) }
}

/** A conversion whose payout may still be in another currency: `inDollars` of this room makes dollars of it. */
export type CallRead = Conversion & {
  readonly foreign?: { readonly amount: string; readonly currency: string } | undefined
}

/** What a call says of a conversion that is recorded. */
export type VerdictRead = Revision

type Call = { org_id: number; network_id: string; arrived_at: number; received_at?: string | undefined }

/**
 * The conversion a call reports, or what it says of one. Its nonce is the network's transaction id, so that a call sent again does nothing; without one it is
 * the one conversion of that type on that click. Throws `Diagnosed`, or what `readConversion` refuses.
 */
export function readCall(fields: Fields, network: Reading, call: Call): CallRead | VerdictRead {
  const { parameters } = network
  const click = clickOf(fields, parameters)
  if (click === undefined) throw new Diagnosed('click_id_missing', 'the call holds no click id')
  if (isMacro(click.text))
    throw new Diagnosed('macro_not_replaced', `${click.name} holds a macro that was not replaced`)
  const meaning = meaningOf(wordsOf(fields, parameters.status), network)
  const nonce = transactionOf(fields, parameters, click.name)
  if ('type' in meaning) return conversionOf(fields, network, { ...meaning, click_text: click.text, nonce, call })
  if (nonce !== undefined && !Nonce.safeParse(nonce).success) throw new Diagnosed('nonce_invalid', TOO_LONG)
  const click_id = toUuid(click.text) ?? refuse('click_not_found')
  return verdictOf(fields, network, { ...meaning, click_id, nonce, call })
}

const TOO_LONG = 'the transaction id has more than 128 characters'
const Nonce = ConversionDraft.shape.nonce

type Reads = { readonly nonce: string | undefined; readonly call: Call }
type Reporting = Reads & {
  readonly type: EventType
  readonly isNamed: boolean
  readonly isHeld: boolean
  readonly click_text: string
}

function conversionOf(
  fields: Fields,
  network: Reading,
  { type, isNamed, isHeld, click_text, nonce, call }: Reporting,
): CallRead {
  const { parameters } = network
  const { org_id, network_id, arrived_at, received_at } = call
  const isUnpaid = !isHeld && network.unpaid_types.includes(type)
  const currency = currencyOf(fields, network)
  const payout = payoutOf(fields, parameters, currency)
  const isPaid = payout !== undefined && !isUnpaid
  const isForeign = isPaid && currency !== undefined && currency !== USD && /[1-9]/.test(payout)
  const foreign = isForeign ? { amount: payout, currency } : undefined
  const telegram_user_id = firstOf(fields, parameters.telegram_user_id)
  const status = statusOf(fields, parameters)
  const draft = ConversionDraft.safeParse({
    clickId: click_text,
    type,
    // Paid later by another status: the money must not be booked twice.
    payout: foreign !== undefined ? undefined : isUnpaid ? '0' : payout,
    nonce,
    payload: {
      network_id: toWireId(network_id),
      ...(status === undefined ? {} : { status }),
      ...(telegram_user_id === undefined ? {} : { telegram_user_id }),
      ...(received_at === undefined ? {} : { received_at }),
    },
  })
  if (!draft.success) throw new Diagnosed('nonce_invalid', TOO_LONG)
  const conversion = readConversion(draft.data, {
    org_id,
    source: 'network',
    campaigns: null,
    key: undefined,
    idempotency_key: undefined,
    arrived_at,
  })
  const standing = {
    network_id,
    says: isHeld ? ('pending' as const) : ('paid' as const),
    amend: network.amend === true,
    hold_days: network.hold_days ?? null,
    reason: status === undefined ? null : reasonOf(status),
  }
  return { ...conversion, ...(isUnpaid ? {} : { standing, isByOffer: !isNamed }), received_at, foreign }
}

function wordsOf(fields: Fields, names: readonly string[]): Said[] {
  return names.flatMap(name => {
    const said = sentAs(fields, name)
    return said === undefined ? [] : [{ name, said }]
  })
}

type Judging = Reads & { readonly verdict: EventStatus; readonly click_id: string }

/** A verdict on the conversion of the same transaction. A refusal is worth nothing, whatever amount came with it. */
function verdictOf(fields: Fields, network: Reading, { verdict, click_id, nonce, call }: Judging): VerdictRead {
  const { org_id, network_id, arrived_at } = call
  const status = statusOf(fields, network.parameters)
  return {
    kind: 'revision',
    org_id,
    click_id,
    of: { network_id, nonce: nonce ?? null },
    status: verdict,
    ...(hasAmount(verdict) ? amountOf(fields, network) : { amount: undefined }),
    reason: status === undefined ? null : reasonOf(status),
    source: 'network',
    network_id,
    actor: null,
    hold_days: network.hold_days ?? null,
    arrived_at,
  }
}

const reasonOf = (status: string): string => status.slice(0, REASON_LENGTH).toWellFormed()

/** The amount of a verdict, in its currency: which rate its conversion was booked by is known only when it is found. */
function amountOf(fields: Fields, network: Reading): Pick<VerdictRead, 'amount' | 'foreign'> {
  const currency = currencyOf(fields, network)
  const payout = payoutOf(fields, network.parameters, currency)
  const isForeign = payout !== undefined && currency !== undefined && currency !== USD && /[1-9]/.test(payout)
  return isForeign ? { amount: undefined, foreign: { amount: payout, currency } } : { amount: payout }
}

/** What the call says it is in, else what its network is; undefined where it would have to say. */
function currencyOf(fields: Fields, { parameters, currency, convert }: Reading): string | undefined {
  const sent = firstOf(fields, parameters.currency)
  if (sent !== undefined && isMacro(sent))
    throw new Diagnosed('macro_not_replaced', 'the currency is a macro that was not replaced')
  const named = sent === undefined ? currency : /^(\$|us\$)$/i.test(sent) ? USD : sent.toUpperCase()
  if (named === USD) return USD
  if (!convert) throw new Diagnosed('currency_not_usd', `the currency is ${sent ?? named}, and only USD is booked`)
  return named === FROM_CALL ? undefined : named
}

const Payout = ConversionDraft.shape.payout
/** Of a currency of which a million are a few dollars. */
const ForeignPayout = Amount(999_999_999_999_999)

function payoutOf(fields: Fields, { payout }: ParameterMap, currency: string | undefined): string | undefined {
  const sent = firstOf(fields, payout)
  if (sent === undefined) return undefined
  if (isMacro(sent)) throw new Diagnosed('macro_not_replaced', 'the payout is a macro that was not replaced')
  if (currency === undefined)
    throw new Diagnosed('currency_missing', `the payout is ${sent}, and the call names no currency`)
  const read = (currency === USD ? Payout : ForeignPayout).safeParse(sent)
  if (!read.success) throw new Diagnosed('payout_invalid', `the payout is ${sent}: ${read.error.issues[0]?.message}`)
  return sent
}

/** The payout of a call that records nothing, and what it is in; undefined where none was sent that could be booked. */
export function sentPayout(fields: Fields, network: Reading): { amount: string; currency: string } | undefined {
  try {
    const currency = currencyOf(fields, { ...network, convert: true })
    const amount = payoutOf(fields, network.parameters, currency)
    return amount === undefined || currency === undefined ? undefined : { amount, currency }
  } catch {
    return undefined
  }
}

/** Never the parameter that the click id was read from: in some networks that is called transaction_id. */
function transactionOf(fields: Fields, { transaction_id }: ParameterMap, click: string): string | undefined {
  return firstOf(
    fields,
    transaction_id.filter(name => name !== click && !isMacro(sentAs(fields, name) ?? '')),
  )
}

function firstOf(fields: Fields, names: readonly string[]): string | undefined {
  const name = names.find(one => sentAs(fields, one) !== undefined)
  return name === undefined ? undefined : sentAs(fields, name)
}

/** What was sent under a name, empty counting as nothing. Names are the user's, and every object has a `constructor`. */
function sentAs(fields: Fields, name: string): string | undefined {
  return Object.hasOwn(fields, name) && fields[name] !== '' ? fields[name] : undefined
}
