/**
 * Receives postbacks. A postback is read by the network's maps and recorded through the queue like any conversion; one that cannot be
 * run at once is stored and run later. The answer is 200 and a short text unless a retry could help, because many networks switch
 * off a URL that answers anything else; 503 only while nothing can be stored.
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
import type { LastReceived } from './last-received.ts'
import { isListedIp } from './ips.ts'
import { Ignored } from './meaning.ts'
import {
  type CallRead,
  clickOf,
  type Fields,
  type NetworkMaps,
  readCall,
  readFields,
  statusOf,
  type VerdictRead,
} from './read-call.ts'
import type { NetworkCall } from './store-calls.ts'
import { hashToken, hasTokenForm } from './token.ts'
import type { RunResult, WaitingCall, WaitingCalls } from './waiting-calls.ts'

export type PostbackTools = {
  readonly conversions: Pick<Conversions, 'record' | 'revise'>
  readonly keeper: Pick<Keeper, 'keep'>
  /** Takes one of the organization's events quota; false if it is used up or cannot be read. */
  readonly mayRecord: (org_id: number) => Promise<boolean>
  readonly lastReceived: Pick<LastReceived, 'note'>
  /** Converts a payout in another currency to dollars; `received_at` in Unix ms. Throws `Diagnosed` if no rate is known. */
  readonly inDollars: <Read extends CallRead | VerdictRead>(read: Read, received_at: number) => Promise<Read>
  /** The refusal to keep: an ignored status of a recorded conversion is kept as differing from it. Throws the database's error. */
  readonly refusalOf: (
    call: Pick<NetworkCall, 'org_id' | 'network_id' | 'fields'>,
    maps: NetworkMaps,
    refusal: Refusal,
  ) => Promise<Refusal>
}

type Network = NetworkMaps & { ips: string[]; active: boolean }
type FoundToken = { org_id: number; network_id: string; is_deleted: boolean }

/** Networks time out after ten to thirty seconds. A postback that takes longer is stored as well; both give the same event. */
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

// Some answers repeat what the caller sent, so no browser may render them as a page.
const textAnswer = (status: number, body: string, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  },
  body: `${body}\n`,
})
const OK = textAnswer(200, 'OK')
const UNKNOWN = textAnswer(404, 'unknown postback address')
const LATER = textAnswer(503, 'try again later', { 'retry-after': '60' })
const ORGANIZATION_DELETED = textAnswer(REFUSALS.org_deleted.status, REFUSALS.org_deleted.error)

/** Answers one call. Never throws. */
export async function receiveCall(
  ground: Ground,
  tools: PostbackTools,
  waiting: WaitingCalls,
  visit: Visit,
): Promise<Answer> {
  if (visit.method === 'HEAD') return OK
  const token = visit.params['token'] ?? ''
  if (!hasTokenForm(token)) return UNKNOWN
  try {
    const tokenRow = await readRow<FoundToken>(ground, FIND_TOKEN, [hashToken(token), new Date().toISOString()])
    if (tokenRow === undefined || !isOfHost(visit.host, tokenRow.org_id)) return UNKNOWN
    if (tokenRow.is_deleted) return ORGANIZATION_DELETED
    const { org_id, network_id } = tokenRow
    const network = await readRow<Network>(ground, FIND_NETWORK, [org_id, network_id])
    if (network === undefined) return UNKNOWN
    tools.lastReceived.note({ id: network_id, org_id })
    const call = { org_id, network_id, fields: sentFields(visit), ip: plainAddress(visit.ip), received_at: Date.now() }
    return await takeCall(tools, waiting, call, network)
  } catch (error) {
    ground.log.warn({ err: error }, 'could not take a postback')
    return LATER
  }
}

async function readRow<Row extends object>(
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

async function takeCall(
  tools: PostbackTools,
  waiting: WaitingCalls,
  call: NetworkCall,
  network: Network,
): Promise<Answer> {
  let read: CallRead | VerdictRead
  try {
    requireAllowed(network, call.ip)
    const { org_id, network_id } = call
    const unconverted = readCall(call.fields, network, { org_id, network_id, arrived_at: performance.now() })
    read = await tools.inDollars(unconverted, call.received_at)
  } catch (error) {
    return await answerRefusal(tools, waiting, call, network, error)
  }
  if (!(await tools.mayRecord(call.org_id))) return (await waiting.put(call)) ? OK : LATER
  const recorded = record(tools, call.network_id, read, call.received_at)
  // If it takes too long it goes on; then the stored postback handles its outcome.
  recorded.catch(() => undefined)
  const late = Symbol('late')
  try {
    const unearned = await Promise.race([recorded, sleep(PATIENCE_MS, late, { ref: false })])
    if (typeof unearned === 'object') await tools.keeper.keep(keptRefusal(call, network, unearned))
    if (unearned !== late) return OK
  } catch (error) {
    const isKept = error instanceof Differing && (await tools.keeper.keep(keptRefusal(call, network, error)))
    if (isKept) return OK
    // The verdict may have arrived before its conversion.
    if (isEarly(error) && (await waiting.put(call))) return OK
    if (error instanceof Refusal && error.status < 500 && !(error instanceof Differing))
      return await answerRefusal(tools, waiting, call, network, error)
  }
  // Also a difference that could not be kept now: it is found again when the postback runs later.
  return (await waiting.put(call)) ? OK : LATER
}

/**
 * Records the conversion or the verdict. Returns the refusal to keep for a conversion that is recorded but earns nothing. Throws `Differing` if the
 * conversion is already recorded with other values.
 */
async function record(
  tools: PostbackTools,
  network_id: string,
  read: CallRead | VerdictRead,
  received_at: number,
): Promise<Unearned | undefined> {
  const { conversions, inDollars } = tools
  if (read.kind === 'revision') {
    await conversions.revise(read)
    return undefined
  }
  const recorded = await conversions.record(read)
  const { event, replayed, present, payout } = recorded
  if (payout !== undefined) requireSame({ ...read, payout }, event, present)
  else requireSame(replayed ? await inDollars(read, received_at) : read, event, present)
  return unearnedOf(network_id, recorded)
}

/** Whether the error is of a verdict whose conversion is not recorded, or not yet. */
const isEarly = (error: unknown): boolean => error instanceof Refusal && error.refusal === 'conversion_unknown'

function requireAllowed({ ips, active }: Network, ip: string): void {
  if (!isListedIp(ips, ip)) throw new Diagnosed('ip_not_listed', `${ip} is not one of the network's allowed IPs`)
  if (!active) throw new Diagnosed('network_off', 'the network is switched off')
}

/** Keeps the refusal and answers 200, so that the network keeps calling; a caller whose IP is not allowed gets 403. */
async function answerRefusal(
  tools: PostbackTools,
  waiting: WaitingCalls,
  call: NetworkCall,
  network: NetworkMaps,
  error: unknown,
): Promise<Answer> {
  if (!(error instanceof Refusal)) throw error
  const isKept = await keepRefusal(tools, call, network, error).catch(() => false)
  // If the recorded conversion could not be read, or the difference not kept, the postback is stored and run later.
  if (!isKept && error instanceof Ignored && !(await waiting.put(call))) return LATER
  if (error instanceof Diagnosed && error.diagnosis === 'ip_not_listed') return textAnswer(403, 'address not allowed')
  return textAnswer(200, `Not recorded: ${isRateUnknown(error) ? 'rate_unknown: ' : ''}${error.message}`)
}

/** Whether no rate is known, for the postback's currency or the offer's; the answer then starts with a code for programs. */
const isRateUnknown = (error: Refusal): boolean =>
  error.refusal === 'rate_unknown' || (error instanceof Diagnosed && error.diagnosis === 'rate_unknown')

async function keepRefusal(
  tools: PostbackTools,
  call: NetworkCall,
  network: NetworkMaps,
  error: Refusal,
): Promise<boolean> {
  const refusal = await tools.refusalOf(call, network, error)
  const isKept = await tools.keeper.keep(keptRefusal(call, network, refusal))
  // Ignored statuses without a recorded conversion that exceed the minute's allowance are only counted.
  return isKept || !(refusal instanceof Differing)
}

const keptRefusal = (call: NetworkCall, { parameters }: NetworkMaps, refusal: Refusal) => ({
  ...keptCall(call, parameters),
  refusal,
})

/** The fields of a refused postback that are kept. */
export function keptCall(
  { org_id, network_id, fields, received_at }: NetworkCall,
  parameters: NetworkMaps['parameters'],
) {
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

/** After this many failures the error is not temporary. */
const MOST_ATTEMPTS = 10

/** How long a verdict without a recorded conversion is retried: networks do not keep the order, but send both within a day. */
const EARLY_MS = DAY_MS

/** Returns the function that runs a stored postback. Its refusal is kept under the postback's id, so that it is kept once. */
export function runner(
  ground: Ground,
  tools: PostbackTools,
  mapsOf: (call: WaitingCall) => Promise<NetworkMaps | undefined>,
) {
  return async (call: WaitingCall): Promise<RunResult> => {
    const maps = await mapsOf(call)
    if (maps === undefined) return 'done'
    const keep = async (refusal: Refusal) => {
      const kept = { ...keptRefusal(call, maps, refusal), id: call.id }
      return (await tools.keeper.keep(kept)) ? 'done' : 'later'
    }
    try {
      const received_at = new Date(call.received_at).toISOString()
      const unconverted = readCall(call.fields, maps, { ...call, arrived_at: performance.now(), received_at })
      const read = await tools.inDollars(unconverted, call.received_at)
      if (!(await tools.mayRecord(call.org_id))) return 'over_quota'
      const timed = { ...read, arrived_at: performance.now() }
      const unearned = await record(tools, call.network_id, timed, call.received_at)
      return unearned === undefined ? 'done' : await keep(unearned)
    } catch (error) {
      if (isEarly(error) && Date.now() < call.received_at + EARLY_MS) return 'early'
      if (error instanceof Refusal && error.status < 500) {
        const refusal = await tools.refusalOf(call, maps, error).catch(() => undefined)
        return refusal === undefined ? 'later' : await keep(refusal)
      }
      if (!(error instanceof Refusal)) ground.log.error({ err: error }, 'could not record a stored postback')
      if (error instanceof Refusal || call.attempts < MOST_ATTEMPTS) return 'later'
      return await keep(new Diagnosed('failed', 'the database could not store it'))
    }
  }
}
