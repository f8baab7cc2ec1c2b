/**
 * The client of the certificate authority (RFC 8555, RFC 9773): an account whose key is stored encrypted in the database, so that all processes
 * share it; an order for one name, proven over http; and the time at which the authority wants a certificate renewed. Owns no table.
 */
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type * as acme from 'acme-client'
import { request } from 'undici'
import { HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import type { Ground } from '../../ground/room.ts'
import { AuthorityRefusal, loadLibrary, pauseOf, authorityRefusalOf, authoritySignal } from './acme-library.ts'
import type { Window } from '../../contract/window.ts'
import { retryAfter_ms } from './retry-after.ts'

/** An order. `replaces` is the chain that the new certificate replaces, for an authority that wants to know. */
type CertificateOrder = {
  readonly name: string
  readonly key: string
  readonly replaces: string | undefined
  /** Stores the challenge. The authority is told to look for it after this has resolved. */
  readonly open: (challenge: { token: string; key_authorization: string }) => Promise<void>
}

/** `again_ms`: how long to wait before asking again. */
type RenewalInfo = { readonly window: Window; readonly again_ms: number; readonly why: string | undefined }

export type Authority = {
  /** Orders a certificate and returns its chain in PEM. @throws AuthorityRefusal, or the network error */
  issue(order: CertificateOrder, signal: AbortSignal): Promise<string>
  /** When to renew a certificate; undefined if the authority does not say. @throws AuthorityRefusal, or the network error */
  renewalInfo(chain: string, signal: AbortSignal): Promise<RenewalInfo | undefined>
  /** Whether the authority says when to renew certificates. */
  hasRenewalInfo(signal: AbortSignal): Promise<boolean>
}

/** A new key for a certificate. P-256, because every browser supports it and its handshakes are the cheapest. */
export function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  return privateKey
}

const DIRECTORY_MS = HOUR_MS
const ANSWER_MS = 30_000
/** The first and the longest pause between looks at an order, if the authority does not give one. */
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000

type Directory = { readonly renewalInfo?: unknown; readonly meta?: { readonly profiles?: object } }

/** The client of ACME_DIRECTORY. It sends nothing until it is needed. */
export function openAuthority({ config, secrets }: Pick<Ground, 'config' | 'secrets'>): Authority {
  const { acmeDirectory } = config
  let directory: { read_at: number; at: Directory } | undefined
  let client: Promise<acme.Client> | undefined

  const readDirectory = async (signal: AbortSignal): Promise<Directory> => {
    if (directory !== undefined && performance.now() - directory.read_at < DIRECTORY_MS) return directory.at
    const { status, body } = await get(acmeDirectory, signal)
    if (status !== 200) throw new AuthorityRefusal('', status, `its directory answered with ${status}`)
    directory = { read_at: performance.now(), at: body as Directory }
    return directory.at
  }

  const account = async (): Promise<acme.Client> => {
    client ??= openAccount(config, secrets)
    try {
      return await client
    } catch (error) {
      client = undefined
      throw error
    }
  }

  const renewalAt = async (signal: AbortSignal) => {
    const { renewalInfo } = await readDirectory(signal)
    return typeof renewalInfo === 'string' ? renewalInfo : undefined
  }

  return {
    issue: (order, signal) =>
      authoritySignal.run(signal, async () => {
        const replaces =
          order.replaces !== undefined && (await renewalAt(signal)) !== undefined ? order.replaces : undefined
        try {
          return await issue(await account(), { ...order, replaces }, config.acmeProfile, signal)
        } catch (error) {
          // If the authority has forgotten the account, the next order creates it again.
          if (error instanceof AuthorityRefusal && error.type === 'accountDoesNotExist') client = undefined
          throw error
        }
      }),
    hasRenewalInfo: async signal => (await renewalAt(signal)) !== undefined,
    async renewalInfo(chain, signal) {
      const address = await renewalAt(signal)
      const id = address === undefined ? undefined : await renewalId(chain)
      if (id === undefined) return undefined
      const { status, body, retry_ms } = await get(`${address}/${id}`, signal)
      if (status === 404) return undefined
      if (status !== 200) throw authorityRefusalOf(status, body ?? {}, retry_ms)
      return readWindow(body, retry_ms)
    },
  }
}

async function openAccount(config: Ground['config'], secrets: Ground['secrets']): Promise<acme.Client> {
  const { acmeDirectory, acmeEmail, acmeEab } = config
  const library = await loadLibrary()
  const [kid = '', hmacKey = ''] = acmeEab?.split(':') ?? []
  const client = new library.Client({
    directoryUrl: acmeDirectory,
    accountKey: await secrets.kept(`acme_account ${acmeDirectory}`, newKey),
    ...(acmeEab === undefined ? {} : { externalAccountBinding: { kid, hmacKey } }),
  })
  const contact = acmeEmail === undefined ? {} : { contact: [`mailto:${acmeEmail}`] }
  if (await hasAccount(client)) {
    if (acmeEmail !== undefined) await client.updateAccount(contact)
  } else await client.createAccount({ termsOfServiceAgreed: true, ...contact })
  return client
}

/**
 * Whether the authority knows the account of the client's key; if so, the client uses it from then on. It is a separate request because the library
 * follows a newAccount for a known key with an update, and a strict authority refuses an update that changes nothing.
 */
async function hasAccount(client: acme.Client): Promise<boolean> {
  try {
    await client.createAccount({ onlyReturnExisting: true })
    return true
  } catch (error) {
    if (error instanceof AuthorityRefusal && error.type === 'accountDoesNotExist') return false
    throw error
  }
}

async function issue(
  client: acme.Client,
  wanted: CertificateOrder,
  profile: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { name, key } = wanted
  const library = await loadLibrary()
  let order = await placeOrder(client, wanted, profile)
  if (order.status === 'pending') {
    const [authorization] = await client.getAuthorizations(order)
    if (authorization?.status === 'pending') await prove(client, order, authorization, wanted, signal)
    order = await pollUntilDone(() => client.getOrder(order), ['pending'], signal)
  }
  if (order.status === 'ready') {
    const [, request] = await library.crypto.createCsr({ altNames: [name] }, key)
    order = await client.finalizeOrder(order, request)
    order = await pollUntilDone(() => client.getOrder(order), ['processing', 'ready'], signal, order)
  }
  if (order.status !== 'valid' || order.certificate === undefined)
    throw authorityRefusalOf(400, order.error ?? { detail: `its order is ${order.status}` })
  return client.getCertificate(order)
}

async function placeOrder(client: acme.Client, { name, replaces }: CertificateOrder, profile: string | undefined) {
  const identifiers = [{ type: 'dns', value: name }]
  const place = (more: { replaces?: string }) => {
    // The library passes on fields that its types do not have.
    const order = { identifiers, ...(profile === undefined ? {} : { profile }), ...more }
    return client.createOrder(order)
  }
  const id = replaces === undefined ? undefined : await renewalId(replaces)
  if (id === undefined) return place({})
  try {
    return await place({ replaces: id })
  } catch (error) {
    // The old certificate was replaced already, or the authority does not know it: then the order replaces nothing.
    if (!(error instanceof AuthorityRefusal) || !['alreadyReplaced', 'malformed'].includes(error.type)) throw error
    return place({})
  }
}

async function prove(
  client: acme.Client,
  order: acme.Order,
  authorization: acme.Authorization,
  { open }: CertificateOrder,
  signal: AbortSignal,
): Promise<void> {
  const challenge = authorization.challenges.find(({ type }) => type === 'http-01')
  if (challenge === undefined) throw new AuthorityRefusal('', 400, 'it offers no proof over http (http-01)')
  await open({ token: challenge.token, key_authorization: await client.getChallengeKeyAuthorization(challenge) })
  await client.completeChallenge(challenge)
  const read = async () => {
    const [now] = await client.getAuthorizations(order)
    if (now === undefined) throw new AuthorityRefusal('', 400, 'its order has no authorization')
    return now
  }
  const ended = await pollUntilDone(read, ['pending', 'processing'], signal)
  if (ended.status === 'valid') return
  const error = ended.challenges.find(({ type }) => type === 'http-01')?.error
  throw authorityRefusalOf(400, error ?? { detail: `its authorization is ${ended.status}` })
}

/** Polls until the status is none of `passing`. Waits between polls as long as the authority says. */
async function pollUntilDone<T extends { readonly status: string }>(
  read: () => Promise<T>,
  passing: readonly string[],
  signal: AbortSignal,
  first?: T,
): Promise<T> {
  let current = first ?? (await read())
  for (let pause = FIRST_PAUSE_MS; passing.includes(current.status); pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
    await sleep(pauseOf(current) ?? pause, undefined, { signal })
    current = await read()
  }
  return current
}

/** The id of a certificate by RFC 9773: its authority's key id and its serial. Undefined if it has no authority key id. */
async function renewalId(chain: string): Promise<string | undefined> {
  const { X509Certificate: Certificate, AuthorityKeyIdentifierExtension } = await import('@peculiar/x509')
  const leaf = new Certificate(new X509Certificate(chain).raw)
  const keyId = leaf.getExtension(AuthorityKeyIdentifierExtension)?.keyId
  if (keyId === undefined) return undefined
  // The serial as DER bytes: if its first bit is set, a zero byte comes before it.
  const digits = leaf.serialNumber.length % 2 === 0 ? leaf.serialNumber : `0${leaf.serialNumber}`
  const serial = /^[89a-f]/i.test(digits) ? `00${digits}` : digits
  return `${Buffer.from(keyId, 'hex').toString('base64url')}.${Buffer.from(serial, 'hex').toString('base64url')}`
}

function readWindow(body: unknown, retry_ms: number | undefined): RenewalInfo | undefined {
  const { suggestedWindow, explanationURL } = (body ?? {}) as {
    suggestedWindow?: { start?: unknown; end?: unknown }
    explanationURL?: unknown
  }
  const [from, to] = [Date.parse(String(suggestedWindow?.start)), Date.parse(String(suggestedWindow?.end))]
  if (!(to > from)) return undefined
  const why = typeof explanationURL === 'string' ? explanationURL.slice(0, 500) : undefined
  return { window: { from, to }, again_ms: againAfter(retry_ms), why }
}

const HOURS_6 = 6 * HOUR_MS
const DAY = 24 * 60 * MINUTE_MS

/** The wait before asking again: as the authority says, between a minute and a day (RFC 9773, 4.3.3). */
export const againAfter = (retry_ms: number | undefined): number =>
  retry_ms === undefined ? HOURS_6 : Math.min(Math.max(retry_ms, MINUTE_MS), DAY)

type JsonAnswer = { readonly status: number; readonly body: object | undefined; readonly retry_ms: number | undefined }

async function get(address: string, signal: AbortSignal): Promise<JsonAnswer> {
  const { statusCode, headers, body } = await request(address, {
    headers: { 'user-agent': 'Sluice', accept: 'application/json' },
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
  })
  const json = await body.json().catch(() => undefined)
  return {
    status: statusCode,
    body: typeof json === 'object' && json !== null ? json : undefined,
    retry_ms: retryAfter_ms(headers['retry-after']),
  }
}
