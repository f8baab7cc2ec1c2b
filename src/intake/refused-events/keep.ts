/**
 * Stores refused events after their answers were sent: gathered, written in batches by one connection, and limited per organization and minute,
 * so that a flood of invalid requests harms nobody. Owns `refused_events`. Values that look like secrets are removed first.
 */

import { MINUTE_MS } from '../../contract/days.ts'
import type { Diagnosis } from '../../contract/diagnoses.ts'
import { newId, toUuid } from '../../contract/ids.ts'
import { fieldsOf } from '../../contract/json.ts'
import type { Refusal } from '../../contract/refusals.ts'
import { isSecretName } from '../../contract/secret-names.ts'
import { cut, faithful } from '../../contract/texts.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import { conversionsEnded } from '../events/metrics.ts'
import { clickTextOf, diagnose, diagnoseClickId } from './diagnosis.ts'
import { Differing } from './difference.ts'
import { Unearned } from './unearned.ts'

/** A refused request of a known organization. */
type RefusedRequest = {
  readonly org_id: number
  readonly surface: 'api' | 'dashboard' | 'network' | 'page'
  /** The campaign of a page's refused visit, which is never run again. */
  readonly campaign_id?: string | undefined
  readonly key_id?: string | undefined
  readonly network_id?: string | undefined
  readonly refusal: Refusal
  /** What was sent: a JSON value, or bytes that are not JSON. */
  readonly body: unknown
  readonly idempotency_key?: string | undefined
  /** Click id and status of a network's postback. In requests of the API they are in the body. */
  readonly click_text?: string | undefined
  readonly type?: string | undefined
  /** Unix ms. */
  readonly received_at: number
  /** The row's id, if it must not be stored twice. */
  readonly id?: string
}

export type Keeper = {
  /** True once it is stored; false if there were too many in this minute, or the database is away. Never throws. */
  keep(refused: RefusedRequest): Promise<boolean>
  /** Writes the rows that are left. */
  close(): Promise<void>
}

type RefusedRow = Tables['refused_events']
type WaitingRow = { row: RefusedRow; owner: number | undefined; resolve: (isKept: boolean) => void }

const BODY_BYTES = 8192
const BATCH = 100
/** At most about eight megabytes. */
const MOST_WAITING = 1000
/** Refusals stored per minute of one organization, and of all: enough to see what is wrong, too few to fill a disk. */
const EACH_PER_MINUTE = 300
const ALL_PER_MINUTE = 1500
/** Anybody can send what a page sends, so refused reports of pages never use up the allowance of conversions. */
const PAGES_PER_MINUTE = { each: 60, all: 300 }

/** Opens the keeper; `perMinute` is for tests. */
export function openKeeper(
  { db, log, secrets }: Pick<Ground, 'db' | 'log' | 'secrets'>,
  perMinute = { each: EACH_PER_MINUTE, all: ALL_PER_MINUTE },
): Keeper {
  let waiting: WaitingRow[] = []
  let isWriting = false
  let written: Promise<void> = Promise.resolve()
  const allowances = { page: new Allowance(PAGES_PER_MINUTE), api: new Allowance(perMinute) }
  /** Differences stored in this minute: a network that repeats one does not use up the allowance. */
  const keptOnce = new Set<string>()

  const write = async () => {
    isWriting = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH)
      waiting = waiting.slice(BATCH)
      const isKept = await store(db, batch).then(
        () => true,
        (error: unknown) => {
          log.warn({ err: error, rows: batch.length }, 'could not store refused events')
          return false
        },
      )
      for (const { resolve } of batch) resolve(isKept)
    }
    // Set in the same turn as the last check, so that no row added meanwhile is left behind.
    isWriting = false
  }
  const put = (row: RefusedRow, owner: number | undefined) => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    waiting.push({ row, owner, resolve })
    if (!isWriting) written = write()
    return promise
  }
  const putOverflow = () => {
    for (const surface of ['page', 'api'] as const)
      for (const [org_id, count] of allowances[surface].renew()) void put(overflowOf(org_id, surface, count), undefined)
  }
  const timer = setInterval(() => {
    keptOnce.clear()
    putOverflow()
  }, MINUTE_MS)
  timer.unref()

  return {
    async keep(refused) {
      const { difference_id } = onceOf(refused.refusal)
      // Differing and unearned postbacks repeat a recorded conversion.
      if (difference_id === undefined) conversionsEnded.inc({ outcome: 'refused' })
      if (difference_id !== undefined && keptOnce.has(difference_id)) return true
      const allowance = allowances[refused.surface === 'page' ? 'page' : 'api']
      if (waiting.length >= MOST_WAITING || !allowance.take(refused.org_id)) return false
      const { row, owner } = rowOf(refused, secrets.clickKey)
      const isKept = await put(row, owner)
      if (isKept && difference_id !== undefined) keptOnce.add(difference_id)
      return isKept
    },
    async close() {
      clearInterval(timer)
      putOverflow()
      await written
    },
  }
}

/** Counts the refusals of the running minute against the limits. */
class Allowance {
  readonly #perMinute: { each: number; all: number }
  #each = new Map<number, number>()
  #all = 0
  constructor(perMinute: { each: number; all: number }) {
    this.#perMinute = perMinute
  }

  take(org_id: number): boolean {
    const used = (this.#each.get(org_id) ?? 0) + 1
    this.#each.set(org_id, used)
    if (used > this.#perMinute.each || this.#all >= this.#perMinute.all) return false
    this.#all += 1
    return true
  }

  /** Begins the next minute; returns how many refusals of each organization were over the limit in the last one. */
  renew(): [org_id: number, count: number][] {
    const over = [...this.#each].flatMap(([org_id, used]): [number, number][] =>
      used > this.#perMinute.each ? [[org_id, used - this.#perMinute.each]] : [],
    )
    this.#each = new Map()
    this.#all = 0
    return over
  }
}

const EMPTY = {
  key_id: null,
  network_id: null,
  campaign_id: null,
  click_text: null,
  click_id: null,
  type: null,
  body: null,
  idempotency_key: null,
  state: 'refused',
  runs: 0,
  run_at: null,
  run_by: null,
  event_id: null,
  difference: null,
  difference_id: null,
} as const

function overflowOf(org_id: number, surface: 'page' | 'api', count: number): RefusedRow {
  const error = `${count} more were refused within a minute and not kept`
  const received_at = new Date().toISOString()
  const row = { org_id, id: newId(), surface, status: 400, error, diagnosis: 'not_kept', is_whole: false }
  return { ...EMPTY, ...row, received_at }
}

const TEXT_BYTES = 300

const textOf = (value: unknown): string | null =>
  value === undefined || value === null
    ? null
    : cut(faithful(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')), TEXT_BYTES)

/** The row, and the number of another organization in the click id, if it must be looked up. */
function rowOf(refused: RefusedRequest, clickKey: Uint8Array): { row: RefusedRow; owner: number | undefined } {
  const {
    org_id,
    surface,
    key_id = null,
    network_id = null,
    campaign_id = null,
    refusal,
    body,
    received_at,
    idempotency_key,
  } = refused
  const sent = refused.click_text ?? fieldsOf(body)['clickId']
  const type = refused.type ?? fieldsOf(body)['type']
  const click = typeof sent === 'string' ? clickTextOf(type, sent) : undefined
  let diagnosis: Diagnosis | 'click' = diagnose(refusal, body)
  let owner: number | undefined
  if (diagnosis === 'click') {
    const finding = diagnoseClickId(click ?? '', org_id, clickKey)
    if ('org_id' in finding) owner = finding.org_id
    diagnosis = 'diagnosis' in finding ? finding.diagnosis : 'click_unknown'
  }
  const row = {
    ...EMPTY,
    org_id,
    id: refused.id ?? newId(received_at),
    surface,
    key_id,
    network_id,
    campaign_id,
    status: refusal.status,
    error: textOf(refusal.message) ?? '',
    diagnosis,
    click_text: textOf(sent),
    click_id: click === undefined ? null : (toUuid(click.trim()) ?? null),
    type: textOf(type),
    idempotency_key: textOf(idempotency_key),
    received_at: new Date(received_at).toISOString(),
    ...keptBody(body),
    ...(surface === 'page' ? { is_whole: false } : {}),
    ...onceOf(refusal),
  }
  return { row, owner }
}

/** The columns that keep one row per difference, or per conversion that earns nothing, however often it is reported. */
function onceOf(refusal: Refusal): { difference_id?: string } & Partial<RefusedRow> {
  if (refusal instanceof Unearned)
    return { state: 'recorded', event_id: refusal.event_id, difference_id: refusal.kept_once_by }
  if (!(refusal instanceof Differing)) return {}
  return { difference: JSON.stringify(refusal.difference), difference_id: refusal.kept_once_by }
}

const SECRET_TEXT = /sluice_[A-Za-z0-9]{20,}/g
const REMOVED = '[removed]'

/** The stored form of a body: JSON of at most 8 KiB without secrets. Of bytes that are not JSON, the beginning as text. */
function keptBody(body: unknown): { body: string | null; is_whole: boolean } {
  if (body === undefined) return { body: null, is_whole: false }
  const isUnread = body instanceof Uint8Array
  const value = isUnread ? new TextDecoder().decode(body.subarray(0, BODY_BYTES)) : body
  const text = withoutSecrets(value)
  const bytes = Buffer.byteLength(text)
  return { body: bytes > BODY_BYTES ? cut(text, BODY_BYTES) : text, is_whole: !isUnread && bytes <= BODY_BYTES }
}

/** The value as JSON, without secrets. */
export function withoutSecrets(value: unknown): string {
  const text = JSON.stringify(value, (name, inner: unknown) => {
    if (isSecretName(name) && inner !== null) return REMOVED
    return typeof inner === 'string' ? inner.replace(SECRET_TEXT, REMOVED) : inner
  })
  return text ?? 'null'
}

async function store(db: Ground['db'], batch: readonly WaitingRow[]): Promise<void> {
  const owners = [...new Set(batch.flatMap(({ owner }) => owner ?? []))]
  // Reads only whether such an organization exists, never its clicks.
  const known =
    owners.length === 0
      ? []
      : await db.selectFrom('organizations').select('org_id').where('org_id', 'in', owners).execute()
  const existing = new Set(known.map(({ org_id }) => org_id))
  const rows = batch.map(({ row, owner }) =>
    owner !== undefined && existing.has(owner) ? { ...row, diagnosis: 'click_other_organization' } : row,
  )
  await db
    .insertInto('refused_events')
    .values(rows)
    .onConflict(on => on.doNothing())
    .execute()
}
