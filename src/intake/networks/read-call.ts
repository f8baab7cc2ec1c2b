/**
 * Reads a network's postback into a conversion or a verdict, by the network's maps. A postback that cannot be read exactly is refused with a
 * diagnosis for the operator, because no answer would make the network send it differently.
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
import { meaningOf, type SentStatus } from './meaning.ts'

/** The parameters of a postback by lower-case name; of a repeated one, the last non-empty value. */
export type Fields = Readonly<Record<string, string>>

/** The settings of a network by which its postbacks are read. */
export type NetworkMaps = {
  readonly parameters: ParameterMap
  readonly statuses: StatusMap
  readonly default_type: EventType | null
  readonly unpaid_types: readonly EventType[]
  /** The currency of postbacks that name none: a code, or `from_call` if each must name one. */
  readonly currency: string
  /** Whether payouts in other currencies are converted to dollars; false: refused. */
  readonly convert: boolean
  /** Whether a later paid status with another amount changes the recorded conversion. */
  readonly amend?: boolean | null
  /** Days after which a held conversion is approved. */
  readonly hold_days?: number | null
}

const MOST_FIELDS = 100
const NAME_LENGTH = 64
const VALUE_LENGTH = 1000
/** The most text stored of a postback, in characters. */
const ALL_LENGTH = 6000
/** Longer bodies are parsed without keeping large integers exact, which takes time; networks send far less. */
const EXACT_LENGTH = 16_384

/** The parameters of a query, and of a body that is a form or a JSON object. Any other body gives none. Never throws. */
export function readFields(query: string, body: Buffer | undefined): Fields {
  const fields = new Map<string, string>()
  let room = ALL_LENGTH
  const isFull = () => room < 0 || fields.size >= MOST_FIELDS
  const put = (sentName: string, sentValue: string) => {
    if (isFull()) return
    // `&amp;` and a second `?` occur in URLs that went through an editor or were pasted together.
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

/** Keeps large integers as text: as floats, two transaction ids of 19 digits could be equal. */
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

/** The parameter with the click id: the first that holds a valid id, else the first that was sent. */
export function clickOf(fields: Fields, { click_id }: ParameterMap): { name: string; text: string } | undefined {
  const sent = click_id.flatMap(name => {
    const text = sentAs(fields, name)
    return text === undefined ? [] : [{ name, text }]
  })
  return sent.find(({ text }) => toUuid(text) !== undefined) ?? sent[0]
}

/** The network's status, as sent. */
export const statusOf = (fields: Fields, { status }: ParameterMap): string | undefined => firstOf(fields, status)

/** The click id and transaction id of a postback, as sent. */
export function identityOf(fields: Fields, parameters: ParameterMap) {
  const click = clickOf(fields, parameters)
  return { click, nonce: click && transactionOf(fields, parameters, click.name) }
}

/** A conversion whose payout may still be in another currency; `in-dollars.ts` converts it. */
export type CallRead = Conversion & {
  readonly foreign?: { readonly amount: string; readonly currency: string } | undefined
}

/** A verdict on a recorded conversion. */
export type VerdictRead = Revision

type Call = { org_id: number; network_id: string; arrived_at: number; received_at?: string | undefined }

/**
 * The conversion or verdict of a postback. The nonce is the network's transaction id, so that a repeated postback does nothing; without one, a click has one
 * conversion of each type. Throws `Diagnosed`, or the refusals of `readConversion`.
 */
export function readCall(fields: Fields, network: NetworkMaps, call: Call): CallRead | VerdictRead {
  const { parameters } = network
  const click = clickOf(fields, parameters)
  if (click === undefined) throw new Diagnosed('click_id_missing', 'the postback has no click id')
  if (isMacro(click.text))
    throw new Diagnosed('macro_not_replaced', `${click.name} holds a macro that was not replaced`)
  const meaning = meaningOf(sentStatuses(fields, parameters.status), network)
  const nonce = transactionOf(fields, parameters, click.name)
  if ('type' in meaning) return conversionOf(fields, network, { ...meaning, click_text: click.text, nonce, call })
  if (nonce !== undefined && !Nonce.safeParse(nonce).success) throw new Diagnosed('nonce_invalid', TOO_LONG)
  const click_id = toUuid(click.text) ?? refuse('click_not_found')
  return verdictOf(fields, network, { ...meaning, click_id, nonce, call })
}

const TOO_LONG = 'the transaction id has more than 128 characters'
const Nonce = ConversionDraft.shape.nonce

type ReadIdentity = { readonly nonce: string | undefined; readonly call: Call }
type ReportedConversion = ReadIdentity & {
  readonly type: EventType
  readonly isNamed: boolean
  readonly isHeld: boolean
  readonly click_text: string
}

function conversionOf(
  fields: Fields,
  network: NetworkMaps,
  { type, isNamed, isHeld, click_text, nonce, call }: ReportedConversion,
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
    // An unpaid type gets 0, because a later status brings the payout: it must not be booked twice.
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

function sentStatuses(fields: Fields, names: readonly string[]): SentStatus[] {
  return names.flatMap(name => {
    const status = sentAs(fields, name)
    return status === undefined ? [] : [{ name, status }]
  })
}

type ReportedVerdict = ReadIdentity & { readonly verdict: EventStatus; readonly click_id: string }

/** A verdict on the conversion of the same transaction. With a rejection, a sent amount is ignored. */
function verdictOf(
  fields: Fields,
  network: NetworkMaps,
  { verdict, click_id, nonce, call }: ReportedVerdict,
): VerdictRead {
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

/** The amount of a verdict in its own currency; the events room converts it by the rate of the conversion. */
function amountOf(fields: Fields, network: NetworkMaps): Pick<VerdictRead, 'amount' | 'foreign'> {
  const currency = currencyOf(fields, network)
  const payout = payoutOf(fields, network.parameters, currency)
  const isForeign = payout !== undefined && currency !== undefined && currency !== USD && /[1-9]/.test(payout)
  return isForeign ? { amount: undefined, foreign: { amount: payout, currency } } : { amount: payout }
}

/** The postback's currency, else the network's; undefined if the postback must name one and does not. */
function currencyOf(fields: Fields, { parameters, currency, convert }: NetworkMaps): string | undefined {
  const sent = firstOf(fields, parameters.currency)
  if (sent !== undefined && isMacro(sent))
    throw new Diagnosed('macro_not_replaced', 'the currency is a macro that was not replaced')
  const named = sent === undefined ? currency : /^(\$|us\$)$/i.test(sent) ? USD : sent.toUpperCase()
  if (named === USD) return USD
  if (!convert)
    throw new Diagnosed('currency_not_usd', `the currency is ${sent ?? named}, and the network takes only USD`)
  return named === FROM_CALL ? undefined : named
}

const Payout = ConversionDraft.shape.payout
/** Enough for a currency of which a million units are a few dollars. */
const ForeignPayout = Amount(999_999_999_999_999)

function payoutOf(fields: Fields, { payout }: ParameterMap, currency: string | undefined): string | undefined {
  const sent = firstOf(fields, payout)
  if (sent === undefined) return undefined
  if (isMacro(sent)) throw new Diagnosed('macro_not_replaced', 'the payout is a macro that was not replaced')
  if (currency === undefined)
    throw new Diagnosed('currency_missing', `the payout is ${sent}, and the postback names no currency`)
  const read = (currency === USD ? Payout : ForeignPayout).safeParse(sent)
  if (!read.success) throw new Diagnosed('payout_invalid', `the payout is ${sent}: ${read.error.issues[0]?.message}`)
  return sent
}

/** The payout and currency of a postback that is not recorded; undefined if it has no valid payout. */
export function sentPayout(fields: Fields, network: NetworkMaps): { amount: string; currency: string } | undefined {
  try {
    const currency = currencyOf(fields, { ...network, convert: true })
    const amount = payoutOf(fields, network.parameters, currency)
    return amount === undefined || currency === undefined ? undefined : { amount, currency }
  } catch {
    return undefined
  }
}

/** Skips the parameter that the click id was read from, which some networks call transaction_id. */
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

/** The value of a parameter; undefined if empty. Uses `hasOwn`, because users choose the names and every object has a `constructor`. */
function sentAs(fields: Fields, name: string): string | undefined {
  return Object.hasOwn(fields, name) && fields[name] !== '' ? fields[name] : undefined
}
