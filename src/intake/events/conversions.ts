/** The way in for all that is recorded about clicks, while the process runs: one queue for intake, Sluice's own events and beacons. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventType } from '../../contract/event-types.ts'
import { LANDED } from '../../contract/ladder.ts'
import { Refusal } from '../../contract/refusals.ts'
import { openSharing } from '../../ground/db/sharing.ts'
import type { Ground } from '../../ground/room.ts'
import { announceChange, type ChangedObject } from '../../traffic/campaigns/live.ts'
import type { IsUnsettled, Recorded } from './decide.ts'
import { type ChatType, eventId, inChatId, onceId, ownNonce, startId } from './identity.ts'
import type { Conversion, Revision } from './items.ts'
import type { Revised } from './judge.ts'
import { OrganizationQueues } from './queue.ts'
import { foundBy } from './reads.ts'
import { Replays } from './replays.ts'
import type { StillAllowed } from './transact.ts'

/** Someone started a bot over a click, or did something else there: Sluice's own report of it. */
type OwnStart = {
  readonly org_id: number
  readonly click_id: string
  readonly bot_id: string
  readonly telegram_user_id: string
  readonly payload?: Readonly<Record<string, unknown>>
}

/** Another event that Sluice reports by itself; `nonce` tells two of one type on one click apart. */
type OwnEvent = OwnStart & {
  readonly type: Exclude<EventType, 'bot_start'>
  readonly nonce: string
  /** US dollars, a decimal string; null: none, whatever the offer pays. Left out: the offer's, where it names the type. */
  readonly payout?: string | null
}

type OwnInChat = OwnStart & { readonly type: ChatType; readonly chat_id: number }

export type Conversions = {
  /** Records a conversion, or answers the one it repeats. Refuses what depends on the database; resolves after the commit. */
  record(conversion: Conversion): Promise<Recorded>
  /** Records a start that Telegram told us of, once per bot and person, and binds the click to its bot. */
  recordStart(start: OwnStart): Promise<Recorded>
  /** Records what else Telegram told us of, once by its type, its click and its nonce. */
  recordOwn(event: OwnEvent): Promise<Recorded>
  /** Records that somebody has joined a chat or has asked to, once for ever by the chat and the person, whichever click it is counted on first. */
  recordInChat(event: OwnInChat): Promise<Recorded>
  /** Says what became of a conversion; resolves after the commit, throws what refuses it. */
  revise(revision: Revision): Promise<Revised>
  /** Raises a click to landed without an event; false when there is no such click. */
  raise(org_id: number, click_id: string): Promise<boolean>
  /** Resolves when everything taken in has its answer. Call it after the last caller is gone. */
  close(): Promise<void>
}

export type ConversionTerms = {
  stillAllowed?: StillAllowed
  /** Which unknown clicks may wait in a journal as of now: their conversions are told to come again. */
  unsettled?: () => IsUnsettled
  /** Which source of rates is believed first; unless given, as by default. */
  rateOrder?: readonly string[]
  /** How many organizations may share a transaction; unless given, many on one server and one on a sharded database. */
  mostOrganizations?: number
}

/** Gathers the hints of many batches; the worker polls anyway. */
const HINT_MS = 25

/**
 * The statements here look single rows up by their keys: to be planned for that, and not anew for each size of a batch. Citus, which finds
 * the node by the value, is left to plan as it does.
 */
const SESSION = `
  select set_config('plan_cache_mode', 'force_generic_plan', false) where to_regproc('create_distributed_table') is null;
  set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off;
  set enable_material = off;
  select set_config(name, '4s', false) from pg_settings where name = 'transaction_timeout'`

/** Is in `underWay` until it has ended. */
function track<T>(underWay: Set<Promise<unknown>>, work: Promise<T>): Promise<T> {
  underWay.add(work)
  const forget = () => void underWay.delete(work)
  work.then(forget, forget)
  return work
}

/** Opens the queue of conversions; `terms` are for what the door and the journal know. */
export function openConversions(ground: Pick<Ground, 'database' | 'log'>, terms: ConversionTerms = {}): Conversions {
  const { database } = ground
  database.intake.on('connect', client => void client.query(SESSION).catch(() => undefined))
  const { stillAllowed, unsettled = () => () => false, rateOrder = ['import', 'ecb', 'cbr'], mostOrganizations } = terms
  const hint = hinter(() => database.intake.query('notify deliveries'))
  const underWay = new Set<Promise<unknown>>()
  const tracked = <T>(work: Promise<T>) => track(underWay, work)
  const tools = {
    pool: database.intake,
    away: database.away,
    log: ground.log,
    terms: { stillAllowed, unsettled, rateOrder },
    onDeliveries: hint.give,
    onFilled: (caps: readonly ChangedObject[]) => {
      for (const { org_id, id } of caps) void tracked(announceChange(database.kysely, org_id, id))
    },
    unreached: new Map<number, number>(),
  }
  const most = mostOrganizations === undefined ? openSharing(database.intake) : () => mostOrganizations
  const queues = new OrganizationQueues(tools, most)
  const replays = new Replays(database.intake)

  const answer = async (conversion: Conversion): Promise<Recorded> => {
    const found = replays.find(conversion)
    const outcome = (found === undefined ? undefined : await found) ?? (await queues.put(conversion))
    if (outcome instanceof Refusal) throw outcome
    if (typeof outcome === 'boolean' || !('replayed' in outcome))
      throw new Error('a conversion was taken for another item')
    replays.remember(conversion.id)
    return outcome
  }
  const record = (conversion: Conversion) => tracked(answer(conversion))
  return {
    record,
    recordStart: start =>
      record(ownConversion(start, 'bot_start', startId(start.org_id, start.bot_id, start.telegram_user_id))),
    recordOwn: event =>
      record(
        ownConversion(event, event.type, eventId(event.click_id, event.type, ownNonce(event.nonce)), event.payout),
      ),
    recordInChat: event => record(conversionInChat(event)),
    async revise(revision) {
      const outcome = await tracked(queues.put(revision))
      if (outcome instanceof Refusal) throw outcome
      if (typeof outcome === 'boolean' || !('isNew' in outcome))
        throw new Error('a revision was taken for another item')
      return outcome
    },
    async raise(org_id, click_id) {
      const rise = { kind: 'rise' as const, org_id, click_id, rung: LANDED, arrived_at: performance.now() }
      const outcome = await tracked(queues.put(rise))
      if (outcome instanceof Refusal) throw outcome
      return outcome !== false
    },
    async close() {
      await Promise.allSettled(underWay)
      await hint.given()
    },
  }
}

function ownConversion(event: OwnStart, type: EventType, id: string, payout?: string | null): Conversion {
  const { org_id, click_id, bot_id, telegram_user_id, payload } = event
  return {
    kind: 'conversion',
    org_id,
    id,
    click_id,
    type,
    payout: payout ?? undefined,
    isUnpaid: payout === null,
    // U+0000 cannot be stored; the id keeps what the nonce is for.
    nonce: null,
    payload: payload ?? null,
    telegram_user_id,
    bot: { id: bot_id },
    source: 'service',
    campaigns: null,
    key: undefined,
    arrived_at: performance.now(),
  }
}

function conversionInChat(event: OwnInChat): Conversion {
  const once = { id: onceId(event.org_id, event), found_by: foundBy(event) }
  return { ...ownConversion(event, event.type, inChatId(event.click_id, event)), once }
}

/** Tells the worker that there is something to deliver, once for all batches of a moment. A lost hint costs a second. */
function hinter(notify: () => Promise<unknown>) {
  let under_way: Promise<unknown> | undefined
  return {
    give: () => {
      under_way ??= sleep(HINT_MS, undefined, { ref: false })
        .then(() => {
          under_way = undefined
          return notify()
        })
        .catch(() => undefined)
    },
    given: async () => void (await under_way),
  }
}
