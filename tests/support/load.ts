// Visitors and senders against running processes, who remember what they were told: what the audit after a fault is held against.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { toUuid } from '../../src/contract/ids.ts'

export type Target = { key: string; campaign: string; org_id: number }

/** What a sender knows of a conversion: answered with its id, refused for certain, or nobody can say. */
type Told = { id: string } | 'refused' | 'unknown'

/** No answer may take longer: 55 seconds are promised, the rest is the machine's. */
const PATIENCE_MS = 75_000
/** Clicks and events that an audit is worth its name of. */
const ENOUGH = 5
/** The database is given up on after two seconds at the least: what is refused before was refused by the counter of requests. */
const LIMITER_MS = 1500
/** Between two clicks of a sender. Hundreds of clicks a second are enough for requests to be under way when a fault comes; the long form sends without a pause. */
const PAUSE_MS = process.env['SLUICE_FAULT_SECONDS'] === undefined ? 50 : 0
const TYPES = ['ftd', 'lead', 'deposit', 'registration']

type Options = {
  /** Where a request goes now; asked for each one. */
  address: () => string
  /** Whether a prompt 503 means that nothing was stored. Without a database nobody can promise that. */
  isRefusalCertain?: boolean
  /** How long a request is waited for before its outcome counts as unknown. */
  patience_ms?: number
  /** What links say, and who follows them; asked for each visit. */
  visit?: () => { said: string; headers?: Record<string, string> }
}

const PLAIN_VISIT = { said: 'sub1=load&cost=0.013', headers: {} }

/** Clicks and conversions for some organizations, with the journal of what came of them. */
export class Load {
  /** Click ids that redirects carried, as uuids. */
  readonly clicks = new Set<string>()
  /** By "click type nonce". */
  readonly intents = new Map<string, Told>()
  /** Bodies of answers from 500 on, with the organization they were given to. */
  readonly failures: { org_id: number; body: string }[] = []
  /** Answers that no rule of the interface allows. */
  readonly unexpected: string[] = []
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /** Conversions that were acknowledged, as uuids. */
  get events(): Set<string> {
    return new Set([...this.intents.values()].flatMap(told => (typeof told === 'object' ? [told.id] : [])))
  }

  /** So many senders until the given moment (performance clock), one target each. */
  async run(until: number, senders: number, targets: readonly Target[]): Promise<void> {
    const all = Array.from({ length: senders }, (_, n) =>
      this.#send(until, targets[n % targets.length] ?? assert.fail()),
    )
    await Promise.all(all)
  }

  /** One visit; answers the click id it was redirected with. */
  async click({ campaign, org_id }: Target): Promise<string | undefined> {
    const { said, headers = {} } = this.#options.visit?.() ?? PLAIN_VISIT
    const answer = await this.#fetch(`/c/${campaign}?${said}`, { redirect: 'manual', headers })
    if (answer === undefined) return undefined
    if (answer.status >= 500) this.failures.push({ org_id, body: await answer.text() })
    const id = URL.parse(answer.headers.get('location') ?? '')?.searchParams.get('c')
    if (id === undefined || id === null || id === '') return undefined
    this.clicks.add(toUuid(id) ?? assert.fail(id))
    return id
  }

  /** Reports one conversion and writes down what it was told. */
  async report({ key, org_id }: Target, body: { clickId: string; type: string; nonce: string; payload?: object }) {
    const intent = `${toUuid(body.clickId)} ${body.type} ${body.nonce}`
    const headers = { 'x-api-key': key }
    const begun = performance.now()
    const answer = await this.#fetch('/api/events', { method: 'POST', headers, body: JSON.stringify(body) })
    const told = answer === undefined ? 'unknown' : await this.#told(answer, org_id, performance.now() - begun)
    const before = this.intents.get(intent)
    if (typeof before === 'object' && typeof told === 'object' && before.id !== told.id)
      this.unexpected.push(`${intent} was ${before.id} and is ${told.id}`)
    // Once it may have been stored, a later refusal does not make it certain that it was not.
    if (typeof told === 'object' || before === undefined || before === 'refused') this.intents.set(intent, told)
    return told
  }

  async #told(answer: Response, org_id: number, took_ms: number): Promise<Told> {
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

  /** Goes on until there was something to lose, however little a busy machine has let through in the time of a fault. */
  async enough(targets: readonly Target[]): Promise<void> {
    for (let turn = 0; turn < 120 && (this.clicks.size <= ENOUGH || this.events.size <= ENOUGH); turn += 1)
      await this.run(performance.now() + 500, 4, targets)
    assert.ok(
      this.clicks.size > ENOUGH && this.events.size > ENOUGH,
      `${this.clicks.size} clicks, ${this.events.size} events`,
    )
  }

  // Half of the conversions are sent once, whatever came of it: resending all would hide what was lost.
  async #send(until: number, target: Target): Promise<void> {
    for (let turn = 0; performance.now() < until; turn += 1) {
      await sleep(PAUSE_MS)
      const clickId = await this.click(target)
      if (clickId === undefined) continue
      const type = TYPES[turn % TYPES.length] ?? 'lead'
      const body = { clickId, type, nonce: `n${turn}`, payload: { telegram_user_id: 1 + (turn % 50) } }
      let told = await this.report(target, body)
      if (Math.floor(turn / 4) % 2 === 0) continue
      while (typeof told !== 'object' && performance.now() < until + 5000) told = await this.report(target, body)
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
