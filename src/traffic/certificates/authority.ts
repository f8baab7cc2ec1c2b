/**
 * The certificate authority as orders see it (RFC 8555, 9773): an account whose key lies sealed in the database, so that all processes are one
 * customer; an order for one name, proven over http; and when it wants a certificate renewed. Owns no table.
 */
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type * as acme from 'acme-client'
import { request } from 'undici'
import type { Ground } from '../../ground/room.ts'
import { loadLibrary, pauseOf, Refused, refusedOf, within } from './acme-library.ts'
import type { Window } from './renewal.ts'
import { retryAfter_ms } from './retry-after.ts'

/** What an order asks for. `replaces`: the chain it takes the place of, for an authority that wants to know. */
type Wanted = {
  readonly name: string
  readonly key: string
  readonly replaces: string | undefined
  /** Stores what the authority will look for; it is told to look when this has resolved. */
  readonly open: (challenge: { token: string; key_authorization: string }) => Promise<void>
}

/** `again_ms`: when to ask again at the soonest. */
type RenewalInfo = { readonly window: Window; readonly again_ms: number; readonly why: string | undefined }

export type Authority = {
  /** The chain in PEM. @throws Refused, or what the connection was ended by. */
  issue(wanted: Wanted, signal: AbortSignal): Promise<string>
  /** Undefined where the authority has no such word for this certificate. @throws likewise */
  renewalInfo(chain: string, signal: AbortSignal): Promise<RenewalInfo | undefined>
  /** Whether it says when to renew at all. */
  hasRenewalInfo(signal: AbortSignal): Promise<boolean>
}

/** A new key for each certificate: P-256, which every browser knows and whose handshakes are the cheapest. */
export function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  return privateKey
}

const DIRECTORY_MS = 60 * 60_000
const ANSWER_MS = 30_000
/** Where the authority does not say when to look at an order again. */
const FIRST_LOOK_MS = 250
const LAST_LOOK_MS = 10_000

type Directory = { readonly renewalInfo?: unknown; readonly meta?: { readonly profiles?: object } }

/** Speaks to ACME_DIRECTORY; asks nothing before it is needed. */
export function openAuthority({ config, secrets }: Pick<Ground, 'config' | 'secrets'>): Authority {
  const { acmeDirectory } = config
  let directory: { read_at: number; at: Directory } | undefined
  let client: Promise<acme.Client> | undefined

  const readDirectory = async (signal: AbortSignal): Promise<Directory> => {
    if (directory !== undefined && performance.now() - directory.read_at < DIRECTORY_MS) return directory.at
    const { status, body } = await get(acmeDirectory, signal)
    if (status !== 200) throw new Refused('', status, `its directory answered with ${status}`)
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
    issue: (wanted, signal) =>
      within.run(signal, async () => {
        const replaces =
          wanted.replaces !== undefined && (await renewalAt(signal)) !== undefined ? wanted.replaces : undefined
        try {
          return await issue(await account(), { ...wanted, replaces }, config.acmeProfile, signal)
        } catch (error) {
          // An authority that has forgotten the account is asked for it anew the next time.
          if (error instanceof Refused && error.type === 'accountDoesNotExist') client = undefined
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
      if (status !== 200) throw refusedOf(status, body ?? {}, retry_ms)
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
 * Whether the authority knows the account of the client's key, which the client then speaks for. Asked for by itself: the library follows a
 * newAccount for a known key with an update, and a strict authority refuses an update that changes nothing.
 */
async function hasAccount(client: acme.Client): Promise<boolean> {
  try {
    await client.createAccount({ onlyReturnExisting: true })
    return true
  } catch (error) {
    if (error instanceof Refused && error.type === 'accountDoesNotExist') return false
    throw error
  }
}

async function issue(
  client: acme.Client,
  wanted: Wanted,
  profile: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { name, key } = wanted
  const library = await loadLibrary()
  let order = await placeOrder(client, wanted, profile)
  if (order.status === 'pending') {
    const [authorization] = await client.getAuthorizations(order)
    if (authorization?.status === 'pending') await prove(client, order, authorization, wanted, signal)
    order = await settled(() => client.getOrder(order), ['pending'], signal)
  }
  if (order.status === 'ready') {
    const [, request] = await library.crypto.createCsr({ altNames: [name] }, key)
    order = await client.finalizeOrder(order, request)
    order = await settled(() => client.getOrder(order), ['processing', 'ready'], signal, order)
  }
  if (order.status !== 'valid' || order.certificate === undefined)
    throw refusedOf(400, order.error ?? { detail: `its order is ${order.status}` })
  return client.getCertificate(order)
}

async function placeOrder(client: acme.Client, { name, replaces }: Wanted, profile: string | undefined) {
  const identifiers = [{ type: 'dns', value: name }]
  const place = (more: { replaces?: string }) => {
    // The library hands on what its types do not name.
    const order = { identifiers, ...(profile === undefined ? {} : { profile }), ...more }
    return client.createOrder(order)
  }
  const id = replaces === undefined ? undefined : await renewalId(replaces)
  if (id === undefined) return place({})
  try {
    return await place({ replaces: id })
  } catch (error) {
    // Two orders cannot take the place of one certificate; an authority that does not know the old one has nothing to replace.
    if (!(error instanceof Refused) || !['alreadyReplaced', 'malformed'].includes(error.type)) throw error
    return place({})
  }
}

async function prove(
  client: acme.Client,
  order: acme.Order,
  authorization: acme.Authorization,
  { open }: Wanted,
  signal: AbortSignal,
): Promise<void> {
  const challenge = authorization.challenges.find(({ type }) => type === 'http-01')
  if (challenge === undefined) throw new Refused('', 400, 'it offers no proof over http (http-01)')
  await open({ token: challenge.token, key_authorization: await client.getChallengeKeyAuthorization(challenge) })
  await client.completeChallenge(challenge)
  const read = async () => {
    const [now] = await client.getAuthorizations(order)
    if (now === undefined) throw new Refused('', 400, 'its order has no authorization')
    return now
  }
  const ended = await settled(read, ['pending', 'processing'], signal)
  if (ended.status === 'valid') return
  const error = ended.challenges.find(({ type }) => type === 'http-01')?.error
  throw refusedOf(400, error ?? { detail: `its authorization is ${ended.status}` })
}

/** Looks again until it is in another state than these, as rarely as the authority says. */
async function settled<T extends { readonly status: string }>(
  read: () => Promise<T>,
  passing: readonly string[],
  signal: AbortSignal,
  first?: T,
): Promise<T> {
  let found = first ?? (await read())
  for (let pause = FIRST_LOOK_MS; passing.includes(found.status); pause = Math.min(pause * 1.5, LAST_LOOK_MS)) {
    await sleep(pauseOf(found) ?? pause, undefined, { signal })
    found = await read()
  }
  return found
}

/** Authority and serial, as RFC 9773 names a certificate; undefined for one that does not name its authority. */
async function renewalId(chain: string): Promise<string | undefined> {
  const { X509Certificate: Certificate, AuthorityKeyIdentifierExtension } = await import('@peculiar/x509')
  const leaf = new Certificate(new X509Certificate(chain).raw)
  const keyId = leaf.getExtension(AuthorityKeyIdentifierExtension)?.keyId
  if (keyId === undefined) return undefined
  // The serial's own bytes: one whose first bit is set has a zero before it.
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

const HOURS_6 = 6 * 60 * 60_000
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** As the authority says, within reason (RFC 9773, 4.3.3). */
export const againAfter = (retry_ms: number | undefined): number =>
  retry_ms === undefined ? HOURS_6 : Math.min(Math.max(retry_ms, MINUTE), DAY)

type Got = { readonly status: number; readonly body: object | undefined; readonly retry_ms: number | undefined }

async function get(address: string, signal: AbortSignal): Promise<Got> {
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
