// The load: requests over kept connections, one in flight on each, from a process of its own. Existing tools do not fit: they
// send one fixed request, or at a given rate send a second's requests at once and then wait, which makes latencies
// meaningless. On the reference server it is as fast as wrk.
import { connect, type Socket } from 'node:net'
import { connect as connectSecurely, createSecureContext } from 'node:tls'
import type { Recipe } from './requests.ts'

/**
 * Runs for `seconds` over `connections`. Without `rate` each connection sends its next request after each answer. With a rate (requests a second)
 * requests are due at even intervals, and times count from then, so that a slow server's backlog is measured too. `tls`: HTTPS, with each request
 * over a new connection (`fresh`), like real visitors, or over kept ones.
 */
export type Job = {
  port: number
  connections: number
  seconds: number
  rate?: number
  recipe: Recipe
  tls?: { name: string; connections: 'fresh' | 'kept' }
}

/**
 * `next` returns the next request, or undefined if none is left. `heard` gets each answer. `inTurn`: at a rate, each request goes over the connection
 * that has rested longest instead of the one used last; a server closes connections that rest for a minute.
 */
export type Requests = { next: () => Buffer | undefined; heard?: (answer: Buffer) => void; inTurn?: boolean }

/** Times are in milliseconds. `exhausted`: the recipe ended before the time. `sample` is the first answer, for error messages. */
export type Measured = {
  answered: number
  per_second: number
  statuses: Record<number, number>
  p50: number
  p95: number
  p99: number
  exhausted: boolean
  sample: string
}

const HEAD_END = '\r\n\r\n'
const EMPTY = Buffer.from('\r\ncontent-length: 0\r\n')
const LINE_END = 10
/** The longest wait for the last answers. */
const PATIENCE_MS = 15_000

/** Shared by all connections, because creating one costs as much as a handshake. */
const secureContext = createSecureContext()

class Connection {
  readonly socket: Socket
  readonly #answered: (connection: Connection, answer: Buffer) => void
  #pending: Buffer | undefined
  /** When the current request was due. */
  since = 0

  constructor({ port, tls }: Pick<Job, 'port' | 'tls'>, answered: (connection: Connection, answer: Buffer) => void) {
    this.#answered = answered
    // The certificate is not checked, because only the cost of the handshake matters.
    this.socket =
      tls === undefined
        ? connect(port, '127.0.0.1')
        : connectSecurely({ port, host: '127.0.0.1', servername: tls.name, secureContext, rejectUnauthorized: false })
    this.socket.setNoDelay(true)
    this.socket.on('data', (bytes: Buffer) => this.#read(bytes))
  }

  send(request: Buffer, since: number): void {
    this.since = since
    this.socket.write(request)
  }

  #read(bytes: Buffer): void {
    const answer = this.#pending === undefined ? bytes : Buffer.concat([this.#pending, bytes])
    this.#pending = isWhole(answer) ? undefined : answer
    if (this.#pending === undefined) this.#answered(this, answer)
  }
}

/** Whether the answer is complete. */
function isWhole(answer: Buffer): boolean {
  // A redirect has no body, and parsing its head would cost the load as much as making it costs the server.
  if (answer[answer.length - 1] === LINE_END && answer.includes(EMPTY)) return true
  const end = answer.indexOf(HEAD_END)
  if (end < 0) return false
  const head = answer.toString('latin1', 0, end)
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`an answer without a length: ${head}`)
  return answer.length >= end + HEAD_END.length + Number(length)
}

/** A running job. */
export class Load {
  readonly #job: Omit<Job, 'recipe'>
  readonly #requests: Requests
  readonly #over = Promise.withResolvers<void>()
  #latencies: number[] = []
  #statuses: Record<number, number> = {}
  /** With a rate: connections without a request, requests without a connection. */
  readonly #free: Connection[] = []
  readonly #due: number[] = []
  #sample = ''
  #isOpen = true
  #exhausted = false
  #underWay = 0
  #dialing = 0
  readonly #fresh = new Set<Connection>()
  #scheduled = 0
  #started = 0
  #endedAt = Number.POSITIVE_INFINITY
  #takenAt = 0

  constructor(job: Omit<Job, 'recipe'>, requests: Requests) {
    this.#job = job
    this.#requests = requests
  }

  /** Rejects if a connection breaks or answers are missing, because then nothing was measured. */
  async run(): Promise<Measured> {
    const connections = await Promise.all(Array.from({ length: this.#job.connections }, () => this.#dial()))
    this.#started = performance.now()
    this.#takenAt = this.#started
    if (this.#job.rate === undefined) for (const connection of connections) this.#send(connection, this.#started)
    else this.#free.push(...connections)
    const ticking = setInterval(() => this.#tick(), 1)
    try {
      await this.#over.promise
    } finally {
      clearInterval(ticking)
      for (const { socket } of [...connections, ...this.#fresh]) socket.removeAllListeners('close').destroy()
    }
    return this.take()
  }

  /** What was measured since the start or the last call. */
  take(): Measured {
    const now = performance.now()
    const measured = this.#summed((now - this.#takenAt) / 1000)
    this.#takenAt = now
    this.#latencies = []
    this.#statuses = {}
    return measured
  }

  /** Sends no more requests; `run` resolves after the last answer. */
  end(): void {
    if (this.#isOpen) this.#endedAt = performance.now()
    this.#isOpen = false
    if (this.#underWay + this.#dialing === 0) this.#over.resolve()
  }

  async #dial(): Promise<Connection> {
    const connection = new Connection(this.#job, this.#answered)
    const { socket } = connection
    const begun = this.#job.tls === undefined ? 'connect' : 'secureConnect'
    await new Promise<void>((resolve, reject) => socket.once(begun, resolve).once('error', reject))
    socket.on('error', this.#over.reject)
    socket.on('close', () => this.#over.reject(new Error('the server closed a connection')))
    return connection
  }

  #send(connection: Connection, since: number): void {
    const request = this.#requests.next()
    if (request === undefined) {
      this.#exhausted = true
      this.end()
    } else {
      this.#underWay += 1
      connection.send(request, since)
    }
  }

  /** Over a new connection, whose handshake counts. */
  async #sendAnew({ socket }: Connection, since: number): Promise<void> {
    socket.removeAllListeners('close').destroy()
    this.#dialing += 1
    try {
      const fresh = await this.#dial()
      this.#fresh.add(fresh)
      fresh.socket.once('close', () => this.#fresh.delete(fresh))
      this.#dialing -= 1
      if (this.#isOpen) this.#send(fresh, since)
      else this.end()
    } catch (error) {
      this.#over.reject(error)
    }
  }

  readonly #answered = (connection: Connection, answer: Buffer): void => {
    const now = performance.now()
    this.#underWay -= 1
    this.#latencies.push(now - connection.since)
    // Three digits after "HTTP/1.1 ".
    const status = (answer[9] ?? 0) * 100 + (answer[10] ?? 0) * 10 + (answer[11] ?? 0) - 48 * 111
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    if (this.#sample === '') this.#sample = answer.toString()
    this.#requests.heard?.(answer)
    if (!this.#isOpen) this.end()
    else if (this.#job.tls?.connections === 'fresh') void this.#sendAnew(connection, now)
    else if (this.#job.rate === undefined) this.#send(connection, now)
    else if (this.#due.length > 0) this.#send(connection, this.#due.shift() ?? now)
    else this.#free.push(connection)
  }

  #tick(): void {
    const { rate, seconds } = this.#job
    const now = performance.now()
    const passed = now - this.#started
    if (rate !== undefined && this.#isOpen)
      for (; this.#scheduled < (passed * rate) / 1000; this.#scheduled += 1) {
        const at = this.#started + (this.#scheduled * 1000) / rate
        const connection = this.#requests.inTurn === true ? this.#free.shift() : this.#free.pop()
        if (connection === undefined) this.#due.push(at)
        else this.#send(connection, at)
      }
    if (passed > seconds * 1000) this.end()
    if (now > this.#endedAt + PATIENCE_MS) this.#over.reject(new Error('answers are missing'))
  }

  #summed(seconds: number): Measured {
    const sorted = Float64Array.from(this.#latencies).sort()
    const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
    return {
      answered: sorted.length,
      per_second: sorted.length / seconds,
      statuses: this.#statuses,
      p50: at(0.5),
      p95: at(0.95),
      p99: at(0.99),
      exhausted: this.#exhausted,
      sample: this.#sample,
    }
  }
}
