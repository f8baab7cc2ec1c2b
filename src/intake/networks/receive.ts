/**
 * What networks call. The call is read by the network's maps and takes the common way of every conversion; what cannot be
 * run at once is stored and run later. Answered as networks expect: 200 and a short text for all that sending again would not change,
 * because many switch an address off that answers anything else; 503 only while nothing can be stored.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS } from '../../contract/days.ts'
import { REFUSALS } from '../../contract/refusal-catalogue.ts'
import { Refusal } from '../../contract/refusals.ts'
import { type Answer, type Ground, isOfHost, type Visit } from '../../ground/room.ts'
import { plainAddress } from '../../ground/trusted.ts'
import type { Conversions } from '../events/conversions.ts'
import { Diagnosed } from '../refused-events/diagnosis.ts'
import { Differing, requireSame } from '../refused-events/difference.ts'
import { type Keeper, withoutSecrets } from '../refused-events/keep.ts'
import { type Unearned, unearnedOf } from '../refused-events/unearned.ts'
import type { Heard } from './heard.ts'
import { isListed } from './ips.ts'
import { Ignored } from './meaning.ts'
import {
  type CallRead,
  clickOf,
  type Fields,
  type Reading,
  readCall,
  readFields,
  statusOf,
  type VerdictRead,
} from './read-call.ts'
import type { NetworkCall } from './store-calls.ts'
import { hashToken, hasTokenForm } from './token.ts'
import type { Ran, WaitingCall, WaitingCalls } from './waiting-calls.ts'

export type Tools = {
  readonly conversions: Pick<Conversions, 'record' | 'revise'>
  readonly keeper: Pick<Keeper, 'keep'>
  /** Spends one of the organization's events quota; false when it is used up or cannot be asked. */
  readonly mayRecord: (org_id: number) => Promise<boolean>
  readonly heard: Pick<Heard, 'note'>
  /** Turns a payout in another currency into dollars; `received_at` in Unix ms. Throws `Diagnosed` where no rate is known. */
  readonly inDollars: <Read extends CallRead | VerdictRead>(read: Read, received_at: number) => Promise<Read>
  /** What a refused call is kept as: an ignored status of a recorded conversion differs from it. Throws what the database throws. */
  readonly refusalOf: (
    call: Pick<NetworkCall, 'org_id' | 'network_id' | 'fields'>,
    reading: Reading,
    refusal: Refusal,
  ) => Promise<Refusal>
}

type Network = Reading & { ips: string[]; active: boolean }
type Found = { org_id: number; network_id: string; is_deleted: boolean }

/** Networks give up after ten to thirty seconds; what takes longer is stored, and the two are one event. */
const PATIENCE_MS = 5000

const FIND_TOKEN = `
  select t.org_id, t.network_id, o.deleted_at is not null as is_deleted
  from network_tokens t
  join organizations o on o.org_id = t.org_id
  where t.hash = $1 and (t.expires_at is null or t.expires_at > $2)`
const FIND_NETWORK = `
  select parameters, statuses, default_type, unpaid_types, currency, convert, amend, hold_days, ips, active
  from networks
  where org_id = $1 and id = $2 and deleted_at is null`

// Some answers repeat what the caller sent, and no browser shall take that for a page.
const say = (status: number, body: string, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  },
  body: `${body}\n`,
})
const OK = say(200, 'OK')
const UNKNOWN = say(404, 'unknown postback address')
const LATER = say(503, 'try again later', { 'retry-after': '60' })
const ORGANIZATION_DELETED = say(REFUSALS.org_deleted.status, REFUSALS.org_deleted.error)

/** Answers one call. Never throws. */
export async function receiveCall(ground: Ground, tools: Tools, waiting: WaitingCalls, visit: Visit): Promise<Answer> {
  if (visit.method === 'HEAD') return OK
  const token = visit.params['token'] ?? ''
  if (!hasTokenForm(token)) return UNKNOWN
  try {
    const found = await ask<Found>(ground, FIND_TOKEN, [hashToken(token), new Date().toISOString()])
    if (found === undefined || !isOfHost(visit.host, found.org_id)) return UNKNOWN
    if (found.is_deleted) return ORGANIZATION_DELETED
    const { org_id, network_id } = found
    const network = await ask<Network>(ground, FIND_NETWORK, [org_id, network_id])
    if (network === undefined) return UNKNOWN
    tools.heard.note({ id: network_id, org_id })
    const call = { org_id, network_id, fields: sentFields(visit), ip: plainAddress(visit.ip), received_at: Date.now() }
    return await take(tools, waiting, call, network)
  } catch (error) {
    ground.log.warn({ err: error }, 'a call of a network could not be taken')
    return LATER
  }
}

async function ask<Row extends object>(
  { database }: Ground,
  text: string,
  values: unknown[],
): Promise<Row | undefined> {
  const { rows } = await database.keys.query<Row>(text, values)
  return rows[0]
}

function sentFields({ url, body }: Visit): Fields {
  const mark = url.indexOf('?')
  const fields = readFields(mark < 0 ? '' : url.slice(mark + 1), Buffer.isBuffer(body) ? body : undefined)
  return JSON.parse(withoutSecrets(fields)) as Fields
}

async function take(tools: Tools, waiting: WaitingCalls, call: NetworkCall, network: Network): Promise<Answer> {
  let said: CallRead | VerdictRead
  try {
    requireWelcome(network, call.ip)
    const { org_id, network_id } = call
    const read = readCall(call.fields, network, { org_id, network_id, arrived_at: performance.now() })
    said = await tools.inDollars(read, call.received_at)
  } catch (error) {
    return await refused(tools, waiting, call, network, error)
  }
  if (!(await tools.mayRecord(call.org_id))) return (await waiting.put(call)) ? OK : LATER
  const recorded = record(tools, call.network_id, said, call.received_at)
  // It goes on when it takes too long; what it ends with then is the stored call's affair.
  recorded.catch(() => undefined)
  const late = Symbol('late')
  try {
    const unearned = await Promise.race([recorded, sleep(PATIENCE_MS, late, { ref: false })])
    if (typeof unearned === 'object') await tools.keeper.keep(keptRefusal(call, network, unearned))
    if (unearned !== late) return OK
  } catch (error) {
    const isKept = error instanceof Differing && (await tools.keeper.keep(keptRefusal(call, network, error)))
    if (isKept) return OK
    // It may have overtaken its conversion.
    if (isEarly(error) && (await waiting.put(call))) return OK
    if (error instanceof Refusal && error.status < 500 && !(error instanceof Differing))
      return await refused(tools, waiting, call, network, error)
  }
  // Also what differs and could not be kept now: run later, it differs still.
  return (await waiting.put(call)) ? OK : LATER
}

/**
 * Records what was read, or says it of what is recorded; answers what is to be kept beside, where that earns nothing. Throws `Differing` where it
 * says otherwise than what stands.
 */
async function record(
  tools: Tools,
  network_id: string,
  said: CallRead | VerdictRead,
  received_at: number,
): Promise<Unearned | undefined> {
  const { conversions, inDollars } = tools
  if (said.kind === 'revision') {
    await conversions.revise(said)
    return undefined
  }
  const recorded = await conversions.record(said)
  const { event, replayed, present, payout } = recorded
  if (payout !== undefined) requireSame({ ...said, payout }, event, present)
  else requireSame(replayed ? await inDollars(said, received_at) : said, event, present)
  return unearnedOf(network_id, recorded)
}

/** Of a verdict whose conversion is not recorded, or not yet. */
const isEarly = (error: unknown): boolean => error instanceof Refusal && error.refusal === 'conversion_unknown'

function requireWelcome({ ips, active }: Network, ip: string): void {
  if (!isListed(ips, ip)) throw new Diagnosed('ip_not_listed', `${ip} is not on the network's IP list`)
  if (!active) throw new Diagnosed('network_off', 'the network is switched off')
}

/** Kept, and answered so that the network goes on; a stranger is told that they are one. */
async function refused(
  tools: Tools,
  waiting: WaitingCalls,
  call: NetworkCall,
  network: Reading,
  error: unknown,
): Promise<Answer> {
  if (!(error instanceof Refusal)) throw error
  const isKept = await keepOf(tools, call, network, error).catch(() => false)
  // What is recorded could not be asked, or the difference not kept: run later, it differs still.
  if (!isKept && error instanceof Ignored && !(await waiting.put(call))) return LATER
  if (error instanceof Diagnosed && error.diagnosis === 'ip_not_listed') return say(403, 'address not allowed')
  return say(200, `Not recorded: ${isRateUnknown(error) ? 'rate_unknown: ' : ''}${error.message}`)
}

/** A call's own, or its offer's: a word that programs can tell it by stands in front. */
const isRateUnknown = (error: Refusal): boolean =>
  error.refusal === 'rate_unknown' || (error instanceof Diagnosed && error.diagnosis === 'rate_unknown')

async function keepOf(tools: Tools, call: NetworkCall, network: Reading, error: Refusal): Promise<boolean> {
  const refusal = await tools.refusalOf(call, network, error)
  const isKept = await tools.keeper.keep(keptRefusal(call, network, refusal))
  // More ignored words of nothing recorded than are kept in a minute are only counted.
  return isKept || !(refusal instanceof Differing)
}

const keptRefusal = (call: NetworkCall, { parameters }: Reading, refusal: Refusal) => ({
  ...keptCall(call, parameters),
  refusal,
})

/** What is kept of a call that was refused. */
export function keptCall({ org_id, network_id, fields, received_at }: NetworkCall, parameters: Reading['parameters']) {
  const click_text = clickOf(fields, parameters)?.text
  return {
    org_id,
    surface: 'network' as const,
    network_id,
    body: fields,
    click_text,
    type: statusOf(fields, parameters),
    received_at,
  }
}

/** After so many tries that the database itself refused, it is no passing trouble. */
const MOST_ATTEMPTS = 10

/** So long a verdict is tried again whose conversion is not recorded: networks keep no order, and a day of theirs is over. */
const EARLY_MS = DAY_MS

/** Runs a call that has waited; its refusal is kept under the call's own id, so that it is kept once. */
export function runner(ground: Ground, tools: Tools, readingOf: (call: WaitingCall) => Promise<Reading | undefined>) {
  return async (call: WaitingCall): Promise<Ran> => {
    const reading = await readingOf(call)
    if (reading === undefined) return 'done'
    const keep = async (refusal: Refusal) => {
      const kept = { ...keptRefusal(call, reading, refusal), id: call.id }
      return (await tools.keeper.keep(kept)) ? 'done' : 'later'
    }
    try {
      const received_at = new Date(call.received_at).toISOString()
      const read = readCall(call.fields, reading, { ...call, arrived_at: performance.now(), received_at })
      const said = await tools.inDollars(read, call.received_at)
      if (!(await tools.mayRecord(call.org_id))) return 'over_quota'
      const again = { ...said, arrived_at: performance.now() }
      const unearned = await record(tools, call.network_id, again, call.received_at)
      return unearned === undefined ? 'done' : await keep(unearned)
    } catch (error) {
      if (isEarly(error) && Date.now() < call.received_at + EARLY_MS) return 'early'
      if (error instanceof Refusal && error.status < 500) {
        const refusal = await tools.refusalOf(call, reading, error).catch(() => undefined)
        return refusal === undefined ? 'later' : await keep(refusal)
      }
      if (!(error instanceof Refusal)) ground.log.error({ err: error }, 'a call of a network could not be recorded')
      if (error instanceof Refusal || call.attempts < MOST_ATTEMPTS) return 'later'
      return await keep(new Diagnosed('failed', 'the database would not take it'))
    }
  }
}
