// The process of the visitors and senders of a soak: redirects at a steady rate, and conversions on clicks that these redirects made some seconds
// before.
import { answerParent } from '../answering.ts'
import { toUuid } from '../../src/contract/ids.ts'
import { Load, type Measured } from '../load.ts'
import { conversion, requestsOf } from '../requests.ts'
import { addId, type IdSum, noIds } from './id-sum.ts'

/** `clicks` and `conversions` are rates per second. */
export type TrafficTerms = {
  port: number
  clicks: number
  conversions: number
  campaignKeys: string[]
  key: string
}

/** Begins, tells what was measured since the last call, or ends and tells the rest. */
export type TrafficOrder = { begin: TrafficTerms } | 'take' | 'end'

/** `clicked` and `converted`: the ids in all answers so far. `strange`: the first answer that was neither 302 nor 201. */
export type TrafficAnswer = {
  redirects: Measured
  conversions: Measured
  clicked: IdSum
  converted: IdSum
  strange: string | null
}

const CONNECTIONS = { redirects: 32, conversions: 8 }
/** The most clicks that wait for their conversion, in seconds of conversions. */
const MOST_WAITING_S = 20
const NONCE = 'soak'
const CLICK = Buffer.from('click=')
const WIRE_ID = 26

class Traffic {
  readonly #terms: TrafficTerms
  readonly #waiting: string[] = []
  readonly #clicked = noIds()
  readonly #converted = noIds()
  readonly #redirects: Load
  readonly #conversions: Load
  readonly #runs: Promise<unknown>[] = []
  readonly #first = Promise.withResolvers<void>()
  readonly #broken = Promise.withResolvers<never>()
  #strange: string | null = null
  #isEnding = false

  constructor(terms: TrafficTerms) {
    this.#terms = terms
    const { port, key, campaignKeys } = terms
    const endless = { port, seconds: Number.POSITIVE_INFINITY }
    this.#redirects = new Load(
      { ...endless, connections: CONNECTIONS.redirects, rate: terms.clicks },
      { next: requestsOf({ kind: 'redirects', campaignKeys }), heard: this.#hearRedirect, inTurn: true },
    )
    this.#conversions = new Load(
      { ...endless, connections: CONNECTIONS.conversions, rate: terms.conversions },
      { next: () => this.#nextConversion(key), heard: this.#hearConversion, inTurn: true },
    )
    // Every order waits for it, but there is not always one.
    this.#broken.promise.catch(() => {})
  }

  /** Resolves once both kinds are sent. */
  async begin(): Promise<TrafficAnswer> {
    this.#start(this.#redirects)
    await Promise.race([this.#first.promise, this.#broken.promise])
    this.#start(this.#conversions)
    return this.take()
  }

  async take(): Promise<TrafficAnswer> {
    await Promise.race([this.#broken.promise, Promise.resolve()])
    return {
      redirects: this.#redirects.take(),
      conversions: this.#conversions.take(),
      clicked: this.#clicked,
      converted: this.#converted,
      strange: this.#strange,
    }
  }

  /** Resolves after the last answers. */
  async end(): Promise<TrafficAnswer> {
    this.#isEnding = true
    // `run` tells what was measured since the last time, so the rest is only in its result.
    this.#redirects.end()
    this.#conversions.end()
    const [redirects, conversions] = (await Promise.race([Promise.all(this.#runs), this.#broken.promise])) as [
      Measured,
      Measured,
    ]
    return { ...(await this.take()), redirects, conversions }
  }

  #start(load: Load): void {
    const running = load.run()
    this.#runs.push(running)
    running.then(
      () => this.#isEnding || this.#broken.reject(new Error('no click was left to convert')),
      this.#broken.reject,
    )
  }

  #nextConversion(key: string): Buffer | undefined {
    const click = this.#waiting.shift()
    return click === undefined ? undefined : conversion({ key, click }, NONCE)
  }

  readonly #hearRedirect = (answer: Buffer): void => {
    if (!isStatus(answer, '302')) return this.#hearStrange(answer)
    const at = answer.indexOf(CLICK) + CLICK.length
    const click = answer.toString('latin1', at, at + WIRE_ID)
    const uuid = toUuid(click)
    if (uuid === undefined) return this.#hearStrange(answer)
    addId(this.#clicked, uuid)
    // By chance, because every twentieth click may always be one of the same campaigns.
    const { clicks, conversions } = this.#terms
    const isPicked = Math.random() < (conversions / clicks) * 2
    if (isPicked && this.#waiting.length < MOST_WAITING_S * conversions) this.#waiting.push(click)
    // A second of conversions, so that they never overtake the redirects.
    if (this.#waiting.length > this.#terms.conversions) this.#first.resolve()
  }

  readonly #hearConversion = (answer: Buffer): void => {
    if (!isStatus(answer, '201')) return this.#hearStrange(answer)
    const body = answer.toString('utf8').split('\r\n\r\n', 2)[1] ?? ''
    addId(this.#converted, toUuid((JSON.parse(body) as { id: string }).id) ?? '')
  }

  #hearStrange(answer: Buffer): void {
    this.#strange ??= answer.toString('utf8').slice(0, 1000)
  }
}

const isStatus = (answer: Buffer, status: string): boolean => answer.toString('latin1', 9, 12) === status

let traffic: Traffic | undefined

async function obey(order: TrafficOrder): Promise<TrafficAnswer> {
  if (typeof order === 'object') {
    traffic = new Traffic(order.begin)
    return traffic.begin()
  }
  if (traffic === undefined) throw new Error('the traffic has not begun')
  return order === 'take' ? traffic.take() : traffic.end()
}

answerParent(obey)
