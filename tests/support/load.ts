// Visitors and senders for running processes. They record every answer, and the audit after a fault compares the database with it.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { toUuid } from '../../src/contract/ids.ts'

export type Target = { key: string; campaign: string; org_id: number }

/** The outcome of a report: recorded with this id, certainly refused, or unknown. */
type ReportOutcome = { id: string } | 'refused' | 'unknown'

/** No answer may take longer: Sluice promises 55 seconds, the rest is for a busy machine. */
const PATIENCE_MS = 75_000
/** The fewest clicks and events that make an audit meaningful. */
const ENOUGH = 5
/** Sluice waits at least two seconds for the database, so an earlier 503 comes from the quota and means that nothing was stored. */
const LIMITER_MS = 1500
/** Between two clicks of a sender. Hundreds of clicks a second are enough to have requests in progress when a fault comes; the long form does not pause. */
const PAUSE_MS = process.env['SLUICE_FAULT_SECONDS'] === undefined ? 50 : 0
const TYPES = ['ftd', 'lead', 'deposit', 'registration']

type Options = {
  /** Returns the server for the next request. */
  address: () => string
  /** Whether a prompt 503 means that nothing was stored. While the database is away that is unknown. */
  isRefusalCertain?: boolean
  /** The timeout after which the outcome of a request counts as unknown. */
  patience_ms?: number
  /** Returns the query and headers of the next visit. */
  visit?: () => { query: string; headers?: Record<string, string> }
}

const PLAIN_VISIT = { query: 'sub1=load&cost=0.013', headers: {} }

/** Sends clicks and conversions for some organizations, and records their outcomes. */
export class Load {
  /** Click ids that redirects carried, as uuids. */
  readonly clicks = new Set<string>()
  /** By "click type nonce". */
  readonly outcomes = new Map<string, ReportOutcome>()
  /** Bodies of 5xx answers, with their organization. */
  readonly failures: { org_id: number; body: string }[] = []
  /** Answers that the contract does not allow. */
  readonly unexpected: string[] = []
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /** Conversions that were acknowledged, as uuids. */
  get events(): Set<string> {
    return new Set([...this.outcomes.values()].flatMap(outcome => (typeof outcome === 'object' ? [outcome.id] : [])))
  }

  /** Runs `senders` senders until `until` (performance clock), each for one target. */
  async run(until: number, senders: number, targets: readonly Target[]): Promise<void> {
    const all = Array.from({ length: senders }, (_, n) =>
      this.#send(until, targets[n % targets.length] ?? assert.fail()),
    )
    await Promise.all(all)
  }

  /** One visit; returns the click id in its redirect. */
  async click({ campaign, org_id }: Target): Promise<string | undefined> {
    const { query, headers = {} } = this.#options.visit?.() ?? PLAIN_VISIT
    const answer = await this.#fetch(`/c/${campaign}?${query}`, { redirect: 'manual', headers })
    if (answer === undefined) return undefined
    if (answer.status >= 500) this.failures.push({ org_id, body: await answer.text() })
    const id = URL.parse(answer.headers.get('location') ?? '')?.searchParams.get('c')
    if (id === undefined || id === null || id === '') return undefined
    this.clicks.add(toUuid(id) ?? assert.fail(id))
    return id
  }

  /** Reports one conversion and records its outcome. */
  async report({ key, org_id }: Target, body: { clickId: string; type: string; nonce: string; payload?: object }) {
    const name = `${toUuid(body.clickId)} ${body.type} ${body.nonce}`
    const headers = { 'x-api-key': key }
    const begun = performance.now()
    const answer = await this.#fetch('/api/events', { method: 'POST', headers, body: JSON.stringify(body) })
    const outcome = answer === undefined ? 'unknown' : await this.#outcomeOf(answer, org_id, performance.now() - begun)
    const before = this.outcomes.get(name)
    if (typeof before === 'object' && typeof outcome === 'object' && before.id !== outcome.id)
      this.unexpected.push(`${name} was ${before.id} and is ${outcome.id}`)
    // After an unknown outcome, a later refusal does not prove that nothing was stored.
    if (typeof outcome === 'object' || before === undefined || before === 'refused') this.outcomes.set(name, outcome)
    return outcome
  }

  async #outcomeOf(answer: Response, org_id: number, took_ms: number): Promise<ReportOutcome> {
    const body = await answer.text().catch(() => undefined)
    if (body === undefined) return 'unknown'
    if (answer.status >= 500) this.failures.push({ org_id, body })
    if (answer.status === 201) return { id: toUuid((JSON.parse(body) as { id: string }).id) ?? assert.fail(body) }
    if (answer.status === 429) return 'refused'
    if (answer.status === 503)
      return this.#options.isRefusalCertain === true && took_ms < LIMITER_MS ? 'refused' : 'unknown'
    this.unexpected.push(`${answer.status} ${body}`)
    return 'unknown'
  }

  /** Sends until there are enough clicks and events, if a busy machine let too few through during a fault. */
  async enough(targets: readonly Target[]): Promise<void> {
    for (let turn = 0; turn < 120 && (this.clicks.size <= ENOUGH || this.events.size <= ENOUGH); turn += 1)
      await this.run(performance.now() + 500, 4, targets)
    assert.ok(
      this.clicks.size > ENOUGH && this.events.size > ENOUGH,
      `${this.clicks.size} clicks, ${this.events.size} events`,
    )
  }

  // Half of the conversions are sent only once, whatever their outcome: resending all would hide losses.
  async #send(until: number, target: Target): Promise<void> {
    for (let turn = 0; performance.now() < until; turn += 1) {
      await sleep(PAUSE_MS)
      const clickId = await this.click(target)
      if (clickId === undefined) continue
      const type = TYPES[turn % TYPES.length] ?? 'lead'
      const body = { clickId, type, nonce: `n${turn}`, payload: { telegram_user_id: 1 + (turn % 50) } }
      let outcome = await this.report(target, body)
      if (Math.floor(turn / 4) % 2 === 0) continue
      while (typeof outcome !== 'object' && performance.now() < until + 5000) outcome = await this.report(target, body)
      await this.report(target, body)
    }
  }

  async #fetch(path: string, init: RequestInit): Promise<Response | undefined> {
    const begun = performance.now()
    const { address, patience_ms = PATIENCE_MS } = this.#options
    try {
      return await fetch(`${address()}${path}`, { ...init, signal: AbortSignal.timeout(patience_ms) })
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError' && performance.now() - begun >= PATIENCE_MS)
        this.unexpected.push(`no answer to ${path} within ${PATIENCE_MS} ms`)
      return undefined
    }
  }
}
