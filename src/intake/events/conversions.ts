/** Records everything about clicks while the process runs: one queue for reported conversions, Sluice's own events, revisions and beacons. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { EventType } from '../../contract/event-types.ts'
import { LANDED } from '../../contract/ladder.ts'
import { Refusal } from '../../contract/refusals.ts'
import { openSharing } from '../../ground/db/sharing.ts'
import type { Ground } from '../../ground/room.ts'
import { announceChange, type ChangedObject } from '../../traffic/campaigns/live.ts'
import { FIND_ALIAS } from '../clicks/found.ts'
import type { IsUnsettled, Outcome, Recorded } from './decide.ts'
import { type Foreseen, foresee } from './foresee.ts'
import { type ChatType, eventId, inChatId, onceId, ownNonce, startId } from './identity.ts'
import type { Conversion, Revision } from './items.ts'
import type { Revised } from './judge.ts'
import { awaitsPayout, isUnconfirmed } from './organization-state.ts'
import { OrganizationQueues } from './queue.ts'
import { conversionsEnded } from './metrics.ts'
import { foundBy } from './reads.ts'
import { Replays } from './replays.ts'
import type { StillAllowed } from './transact.ts'

/** Sluice's own report of a person who started a bot over a click, or did something else there. */
type OwnStart = {
  readonly org_id: number
  readonly click_id: string
  readonly bot_id: string
  readonly telegram_user_id: string
  readonly payload?: Readonly<Record<string, unknown>>
}

/** Another event that Sluice reports itself; `nonce` tells events of one type on one click apart. */
type OwnEvent = OwnStart & {
  readonly type: Exclude<EventType, 'bot_start'>
  readonly nonce: string
  /** US dollars, a decimal string; null: none, whatever the offer pays. Left out: the offer's payout, if the offer names the type. */
  readonly payout?: string | null
}

type OwnInChat = OwnStart & { readonly type: ChatType; readonly chat_id: number }

export type Conversions = {
  /** Records a conversion, or returns the one it repeats. Resolves after the commit; throws refusals that depend on the database. */
  record(conversion: Conversion): Promise<Recorded>
  /** Works out what `record` would do, and keeps nothing; throws the same refusals. */
  foresee(conversion: Conversion): Promise<Foreseen>
  /** Records a start reported by Telegram, once per bot and person, and stores the bot with the click. */
  recordStart(start: OwnStart): Promise<Recorded>
  /** Records another event reported by Telegram, once per type, click and nonce. */
  recordOwn(event: OwnEvent): Promise<Recorded>
  /** Records a join or a join request, once for ever per chat and person, on the click it is first reported for. */
  recordInChat(event: OwnInChat): Promise<Recorded>
  /** Changes the status of a conversion. Resolves after the commit, throws its refusal. */
  revise(revision: Revision): Promise<Revised>
  /** Raises a click to landed without an event; false if the click is unknown. */
  raise(org_id: number, click_id: string): Promise<boolean>
  /** Resolves when every queued item has its outcome. Call it when no caller is left. */
  close(): Promise<void>
}

export type ConversionTerms = {
  stillAllowed?: StillAllowed
  /** Returns a snapshot: which unknown clicks may be in a journal. Their conversions are answered 503. */
  unsettled?: () => IsUnsettled
  /** The order in which sources of rates are preferred; a default if left out. */
  rateOrder?: readonly string[]
  /** How many organizations may share a transaction. Left out: many on one server, one on a sharded database. */
  mostOrganizations?: number
}

/** One NOTIFY serves all batches of this time; the worker polls anyway. */
const HINT_MS = 25

/**
 * The statements here look up single rows by their keys: they are planned for that once, and not again for each batch size. On Citus plans stay
 * as they are, because it finds the node by the parameter's value.
 */
const SESSION = `
  select set_config('plan_cache_mode', 'force_generic_plan', false) where to_regproc('create_distributed_table') is null;
  set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off;
  set enable_material = off;
  select set_config(name, '4s', false) from pg_settings where name = 'transaction_timeout'`

/** Keeps the work in `underWay` until it ends. */
function track<T>(underWay: Set<Promise<unknown>>, work: Promise<T>): Promise<T> {
  underWay.add(work)
  const forget = () => void underWay.delete(work)
  work.then(forget, forget)
  return work
}

/** Opens the queue of conversions; `terms` come from the gate and the journal. */
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
  const answer = recorder(database.intake, queues)
  const record = (conversion: Conversion) => tracked(answer(conversion))
  return {
    record,
    async foresee(conversion) {
      const foreseen = await onItsClick(database.intake, conversion, of => foresee(database.intake, tools.terms, of))
      if (foreseen instanceof Refusal) throw foreseen
      return foreseen
    },
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
        throw new Error('a revision got the outcome of another kind of item')
      return outcome
    },
    async raise(org_id, click_id) {
      const riseToLanded = { kind: 'rise' as const, org_id, click_id, rung: LANDED, arrived_at: performance.now() }
      const outcome = await tracked(queues.put(riseToLanded))
      if (outcome instanceof Refusal) throw outcome
      return outcome !== false
    },
    async close() {
      await Promise.allSettled(underWay)
      await hint.given()
    },
  }
}

/** Records a conversion through the queue, or answers the one that it repeats. */
function recorder(pool: pg.Pool, queues: OrganizationQueues): (conversion: Conversion) => Promise<Recorded> {
  const replays = new Replays(pool)
  const settle = async (conversion: Conversion): Promise<Outcome> => {
    const found = replays.find(conversion)
    return (found === undefined ? undefined : await found) ?? (await queues.put(conversion))
  }
  return async conversion => {
    let recorded = conversion
    const outcome = await onItsClick(pool, conversion, of => {
      recorded = of
      return settle(of)
    })
    if (outcome instanceof Refusal) throw outcome
    if (typeof outcome === 'boolean' || !('replayed' in outcome))
      throw new Error('a conversion got the outcome of another kind of item')
    // The next report with its identity may confirm a browser's, or bring its payout.
    if (!isUnconfirmed(outcome.event) && !awaitsPayout(outcome.event)) replays.remember(recorded.id)
    conversionsEnded.inc({ outcome: outcome.replayed ? 'repeated' : 'accepted' })
    return outcome
  }
}

/** The outcome of the conversion; if its click is unknown, that of the conversion on the click which the id leads to. */
async function onItsClick<T>(
  pool: pg.Pool,
  conversion: Conversion,
  settle: (conversion: Conversion) => Promise<T>,
): Promise<T> {
  const outcome = await settle(conversion)
  const moved =
    outcome instanceof Refusal && UNKNOWN_CLICK.has(outcome.refusal) ? await onOtherClick(pool, conversion) : undefined
  return moved === undefined ? outcome : await onItsClick(pool, moved, settle)
}

/** The refusals of a click that is not stored, or not yet. */
const UNKNOWN_CLICK: ReadonlySet<string> = new Set(['click_not_found', 'service_unavailable'])

/** The conversion on the click that its click id leads to, if the id was handed out for a click which was found to be that one. */
async function onOtherClick(pool: pg.Pool, conversion: Conversion): Promise<Conversion | undefined> {
  const { org_id, click_id: sent, type, nonce, source } = conversion
  if (source === 'service') return undefined
  const { rows } = await pool.query<{ click_id: string }>(FIND_ALIAS, [org_id, sent])
  const click_id = rows[0]?.click_id
  return click_id === undefined
    ? undefined
    : { ...conversion, click_id, id: eventId(click_id, type, nonce ?? undefined) }
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
    // The nonce holds U+0000, which cannot be stored; it is part of the id instead.
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

/** Wakes the delivery worker, once for all batches of 25 ms. Without the NOTIFY, the worker's poll finds the deliveries a second later. */
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
