// A certificate authority (RFC 8555, 9773) that checks every request strictly and does what a test sets, including what Pebble cannot: rate limits,
// renewal information, profiles, broken chains. It validates every name over HTTP on this machine.
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import * as x509 from '@peculiar/x509'
import { makeAuthority, type TestAuthority } from './certificates.ts'

type Problem = { type: string; detail: string; status: number; retry_after?: string }
type Order = {
  id: string
  name: string
  token: string
  status: string
  authorization: string
  chain: string | undefined
  error: object | undefined
  placed: { profile?: string; replaces?: string }
}

/** Its behaviour, which tests change. */
type Behaviour = {
  /** The refusal of an order, if any. */
  refuse: (name: string) => Problem | undefined
  /** The renewal window of a certificate (by its RFC 9773 name), `none` for 404; undefined: no renewal information at all. */
  window: ((id: string) => { from: number; to: number; retry_after?: string; why?: string } | 'none') | undefined
  lifetime_ms: number
  chain: 'whole' | 'leaf alone' | 'another key' | 'another name'
  /** Runs before an order is finalized. */
  beforeFinalize: () => Promise<void>
  /** One in so many requests has its nonce refused; 0 for none. */
  badNonceEach: number
  profiles: readonly string[]
  /** It closes every connection without an answer. */
  isAway: boolean
}

type Jws = { header: Record<string, unknown>; payload: Record<string, unknown> | undefined }
type Key = Record<string, string>

const URN = 'urn:ietf:params:acme:error:'
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17'
const base64 = (value: unknown) => Buffer.from(String(value), 'base64url')
const malformed = (detail: string, status = 400): Problem => ({ type: 'malformed', detail, status })

/** Starts the authority. @param http_port the port of this machine where names are validated */
export async function startAcmeStub(http_port: () => number): Promise<AcmeStub> {
  const stub = new AcmeStub(await makeAuthority(), http_port)
  await stub.open()
  return stub
}

export class AcmeStub {
  readonly authority: TestAuthority
  /** Orders as they were placed. */
  readonly orders: Order[] = []
  /** Every request, by path. */
  readonly asked: string[] = []
  readonly behaviour: Behaviour = {
    refuse: () => undefined,
    window: undefined,
    lifetime_ms: 90 * 24 * 60 * 60_000,
    chain: 'whole',
    beforeFinalize: async () => {},
    badNonceEach: 3,
    profiles: ['classic', 'tlsserver'],
    isAway: false,
  }
  readonly #http_port: () => number
  readonly #server: Server
  readonly #nonces = new Set<string>()
  /** By URL. */
  readonly #accounts = new Map<string, { jwk: Key; thumbprint: string }>()
  #base = ''
  #signed = 0
  #underWay = 0
  #peak = 0

  constructor(authority: TestAuthority, http_port: () => number) {
    this.authority = authority
    this.#http_port = http_port
    this.#server = createServer((incoming, response) => void this.#serve(incoming, response))
  }

  async open(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#base = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  get directory(): string {
    return `${this.#base}/dir`
  }

  /** The most orders in progress at once. */
  get peak(): number {
    return this.#peak
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = incoming.url ?? ''
    this.asked.push(path)
    if (this.behaviour.isAway) return void incoming.socket.destroy()
    if (path === '/dir') return this.#say(response, 200, this.#directory())
    if (path === '/new-nonce') return this.#say(response, 200, '')
    if (path.startsWith('/renewal-info/')) return this.#tellWindow(path.slice('/renewal-info/'.length), response)
    if (incoming.headers['content-type'] !== 'application/jose+json' || !incoming.headers['user-agent'])
      return this.#object(response, malformed('not as RFC 8555 wants it', 415))
    const jws = this.#read(path, await buffer(incoming))
    if (!('header' in jws)) return this.#object(response, jws)
    if (path === '/new-account') return this.#openAccount(jws, response)
    if (path === '/new-order') return this.#takeOrder(jws, response)
    if (path.startsWith('/account/')) return this.#tellAccount(path, jws, response)
    return this.#goOn(path, jws, response)
  }

  #directory() {
    const base = this.#base
    return {
      newNonce: `${base}/new-nonce`,
      newAccount: `${base}/new-account`,
      newOrder: `${base}/new-order`,
      ...(this.behaviour.window === undefined ? {} : { renewalInfo: `${base}/renewal-info` }),
      meta: {
        termsOfService: `${base}/terms`,
        profiles: Object.fromEntries(this.behaviour.profiles.map(name => [name, ''])),
      },
    }
  }

  #say(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
    const nonce = randomBytes(12).toString('base64url')
    this.#nonces.add(nonce)
    const isText = typeof body === 'string'
    const json = status < 400 ? 'application/json' : 'application/problem+json'
    const type = isText ? 'application/pem-certificate-chain' : json
    response.writeHead(status, { 'replay-nonce': nonce, 'content-type': type, ...headers })
    response.end(isText ? body : JSON.stringify(body))
  }

  #object(response: ServerResponse, { type, detail, status, retry_after }: Problem): void {
    const headers = retry_after === undefined ? {} : { 'retry-after': retry_after }
    this.#say(response, status, { type: `${URN}${type}`, detail, status }, headers)
  }

  #tellWindow(id: string, response: ServerResponse): void {
    const window = this.behaviour.window?.(id) ?? 'none'
    if (window === 'none') return this.#object(response, malformed('no such certificate', 404))
    const { from, to, retry_after = '3600', why } = window
    const suggestedWindow = { start: new Date(from).toISOString(), end: new Date(to).toISOString() }
    const body = { suggestedWindow, ...(why === undefined ? {} : { explanationURL: why }) }
    this.#say(response, 200, body, { 'retry-after': retry_after })
  }

  /** The signed message, or the problem with its signature. */
  #read(path: string, body: Buffer): Jws | Problem {
    const { protected: head, payload, signature } = JSON.parse(body.toString()) as Key
    const header = JSON.parse(base64(head).toString()) as Jws['header']
    if (header['url'] !== this.#base + path) return malformed('the url is another')
    if (header['alg'] !== 'ES256') return malformed('another algorithm')
    if ('kid' in header === 'jwk' in header) return malformed('either kid or jwk')
    const jwk = 'jwk' in header ? (header['jwk'] as Key) : this.#accounts.get(String(header['kid']))?.jwk
    if (jwk === undefined) return { type: 'accountDoesNotExist', detail: 'no such account', status: 400 }
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    if (!verify('sha256', Buffer.from(`${head}.${payload}`), { key, dsaEncoding: 'ieee-p1363' }, base64(signature)))
      return malformed('the signature does not verify')
    this.#signed += 1
    const { badNonceEach } = this.behaviour
    const isRefused = badNonceEach > 0 && this.#signed % badNonceEach === 0
    if (!this.#nonces.delete(String(header['nonce'])) || isRefused)
      return { type: 'badNonce', detail: 'another nonce, please', status: 400 }
    return { header, payload: payload === '' ? undefined : (JSON.parse(base64(payload).toString()) as Jws['payload']) }
  }

  #openAccount({ header, payload }: Jws, response: ServerResponse): void {
    const jwk = header['jwk'] as Key
    const { crv, kty, x, y } = jwk
    const thumbprint = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
    const address = `${this.#base}/account/${thumbprint}`
    const isKnown = this.#accounts.has(address)
    if (!isKnown && payload?.['onlyReturnExisting'] === true)
      return this.#object(response, { type: 'accountDoesNotExist', detail: 'no such account', status: 400 })
    if (!isKnown && payload?.['termsOfServiceAgreed'] !== true)
      return this.#object(response, { type: 'userActionRequired', detail: 'agree to the terms', status: 403 })
    this.#accounts.set(address, { jwk, thumbprint })
    const body = { status: 'valid', contact: payload?.['contact'] }
    this.#say(response, isKnown ? 200 : 201, body, { location: address })
  }

  /** Returns the account, or changes its contact. */
  #tellAccount(path: string, { header, payload }: Jws, response: ServerResponse): void {
    if (header['kid'] !== this.#base + path)
      return this.#object(response, { type: 'unauthorized', detail: 'another account', status: 403 })
    if (payload !== undefined && payload['contact'] === undefined)
      return this.#object(response, malformed('an update that changes nothing'))
    this.#say(response, 200, { status: 'valid', contact: payload?.['contact'] })
  }

  #takeOrder({ payload }: Jws, response: ServerResponse): void {
    const { identifiers, profile, replaces } = payload as {
      identifiers: { type: string; value: string }[]
      profile?: string
      replaces?: string
    }
    const name = identifiers[0]?.value ?? ''
    const refused = this.behaviour.refuse(name)
    if (refused !== undefined) return this.#object(response, refused)
    if (profile !== undefined && !this.behaviour.profiles.includes(profile))
      return this.#object(response, { type: 'invalidProfile', detail: `no profile ${profile}`, status: 400 })
    if (replaces !== undefined && this.orders.some(({ placed }) => placed.replaces === replaces))
      return this.#object(response, { type: 'alreadyReplaced', detail: 'it has been replaced', status: 409 })
    const order: Order = {
      id: randomBytes(8).toString('hex'),
      token: randomBytes(32).toString('base64url'),
      name,
      status: 'pending',
      authorization: 'pending',
      chain: undefined,
      error: undefined,
      placed: { ...(profile !== undefined && { profile }), ...(replaces !== undefined && { replaces }) },
    }
    this.orders.push(order)
    this.#underWay += 1
    this.#peak = Math.max(this.#peak, this.#underWay)
    this.#say(response, 201, this.#shown(order), { location: `${this.#base}/order/${order.id}` })
  }

  #goOn(path: string, { header, payload }: Jws, response: ServerResponse): void {
    const [, place = '', id = ''] = path.split('/')
    const order = this.orders.find(one => one.id === id)
    if (order === undefined) return this.#object(response, malformed('no such thing', 404))
    if (place === 'order') return this.#say(response, 200, this.#shown(order), { 'retry-after': '1' })
    if (place === 'authz') return this.#say(response, 200, this.#authorization(order))
    if (place === 'challenge') {
      const { thumbprint = '' } = this.#accounts.get(String(header['kid'])) ?? {}
      if (payload !== undefined) void this.#look(order, thumbprint)
      return this.#say(response, 200, this.#challenge(order))
    }
    if (place === 'finalize') {
      if (order.status !== 'ready')
        return this.#object(response, { type: 'orderNotReady', detail: `it is ${order.status}`, status: 403 })
      order.status = 'processing'
      void this.behaviour.beforeFinalize().then(() => this.#finalize(order, payload ?? {}))
      return this.#say(response, 200, this.#shown(order), { location: `${this.#base}/order/${order.id}` })
    }
    if (place === 'cert' && order.chain !== undefined) return this.#say(response, 200, order.chain)
    return this.#object(response, malformed('no such place', 404))
  }

  #shown({ id, name, status, chain, error }: Order) {
    return {
      status,
      identifiers: [{ type: 'dns', value: name }],
      authorizations: [`${this.#base}/authz/${id}`],
      finalize: `${this.#base}/finalize/${id}`,
      ...(chain === undefined ? {} : { certificate: `${this.#base}/cert/${id}` }),
      ...(error === undefined ? {} : { error }),
    }
  }

  #authorization(order: Order) {
    const dns = { type: 'dns-01', url: `${this.#base}/no`, token: 'x', status: 'pending' }
    const identifier = { type: 'dns', value: order.name }
    return { status: order.authorization, identifier, challenges: [dns, this.#challenge(order)] }
  }

  #challenge({ id, token, authorization: status, error }: Order) {
    return { type: 'http-01', url: `${this.#base}/challenge/${id}`, token, status, ...(error && { error }) }
  }

  async #look(order: Order, thumbprint: string): Promise<void> {
    const path = `/.well-known/acme-challenge/${order.token}`
    const found = await read(this.#http_port(), order.name, path)
    const isProven = found === `200 ${order.token}.${thumbprint}`
    order.authorization = isProven ? 'valid' : 'invalid'
    order.status = isProven ? 'ready' : 'invalid'
    if (isProven) return
    const detail = `127.0.0.1: Invalid response from http://${order.name}${path}: ${found.slice(0, 40)}`
    order.error = { type: `${URN}unauthorized`, detail }
    this.#underWay -= 1
  }

  async #finalize(order: Order, payload: Record<string, unknown>): Promise<void> {
    const csr = new x509.Pkcs10CertificateRequest(base64(payload['csr']))
    const sent = csr.getExtension(SUBJECT_ALTERNATIVE_NAME)?.rawData
    const items = sent === undefined ? [] : new x509.SubjectAlternativeNameExtension(sent).names.items
    const names = items.map(({ value }) => value).join()
    this.#underWay -= 1
    if (!(await csr.verify()) || names !== order.name || csr.subject !== '') {
      order.status = 'invalid'
      order.error = { type: `${URN}badCSR`, detail: `the request is for ${csr.subject} ${names}` }
      return
    }
    const { chain, lifetime_ms } = this.behaviour
    const wish = {
      names: [chain === 'another name' ? 'other.test' : order.name],
      not_after: Date.now() + lifetime_ms,
    }
    const own = chain === 'another key' ? await this.authority.issue(wish) : undefined
    const whole = own?.chain ?? (await this.authority.sign(csr.publicKey, wish))
    order.chain = chain === 'leaf alone' ? whole.replace(/(END CERTIFICATE-----\n)[^]*/, '$1') : whole
    order.status = 'valid'
  }
}

/** Status and body, or the reason why there is none. */
async function read(port: number, host: string, path: string): Promise<string> {
  const sent = request({ host: '127.0.0.1', port, path, headers: { host }, agent: false })
  sent.end()
  try {
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    return `${answer.statusCode} ${await text(answer)}`
  } catch (error) {
    return (error as Error).message
  }
}
