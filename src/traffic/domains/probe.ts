/**
 * Knocking at the addresses of a name: whether a request for it comes here. A client of its own, so that it is of no use against inner hosts:
 * fixed ports and path, public addresses or this machine's own, one redirect at most and only to https of the same name, a KiB, seconds; what
 * was answered is never shown, only what it means.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { type IncomingMessage, request as requestPlainly } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { connect } from 'node:tls'
import type { Config } from '../../ground/config.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import { mayBePointedAt } from '../../ground/guard.ts'

const PATIENCE_MS = 3000
const MOST_BYTES = 1024
const FORM = /^proof ([\w-]{43}) (\S*)\n$/

/** What a nonce is made of. */
export const NONCE = /^[\w-]{22}$/

/** What is answered to a probe: the name that was seen, and that it was seen here. */
export function probeAnswer({ mac }: Pick<Secrets, 'mac'>, nonce: string, host: string): string {
  return `proof ${mac('domain probe', `${nonce} ${host}`).toString('base64url')} ${host}\n`
}

/**
 * What came of knocking at an address. `here`: the request arrived, and `isPort80Closed` says that it did by https alone; `renamed`: it arrived
 * under another name; `other`: something else answers; `loop`: http and https send to each other; `closed`: nobody answers; `inner`: an
 * address that nobody outside can reach.
 */
export type Knocked = {
  readonly is: 'here' | 'renamed' | 'other' | 'loop' | 'closed' | 'inner'
  readonly isPort80Closed?: true
}

type Said = { is: 'here' | 'renamed' | 'other' | 'closed' } | { is: 'redirect'; location: string }

type Knocking = { config: Pick<Config, 'checkPorts' | 'allowPrivateTargets'>; secrets: Pick<Secrets, 'mac'> }

/** Asks one address for the name. */
export async function knock({ config, secrets }: Knocking, name: string, address: string): Promise<Knocked> {
  if (!config.allowPrivateTargets && !mayBePointedAt(address)) return { is: 'inner' }
  const nonce = randomBytes(16).toString('base64url')
  const path = `/.well-known/proof/${nonce}`
  const [http = 80, https = 443] = config.checkPorts
  const ask = (port: number, isSecure: boolean) => said(secrets, { name, address, port, path, nonce, isSecure })
  const plain = await ask(http, false)
  if (plain.is === 'redirect') {
    if (sameName(plain.location, name, path) === 'http:') return { is: 'loop' }
    if (sameName(plain.location, name, path) !== 'https:') return { is: 'other' }
    const secure = await ask(https, true)
    if (secure.is === 'redirect') return { is: sameName(secure.location, name, path) === undefined ? 'other' : 'loop' }
    return secure
  }
  if (plain.is !== 'closed') return plain
  const secure = await ask(https, true)
  return secure.is === 'here'
    ? { is: 'here', isPort80Closed: true }
    : { is: secure.is === 'redirect' ? 'other' : secure.is }
}

/** The scheme of a redirect that leads to the same place of the same name, else undefined. */
function sameName(location: string, name: string, path: string): string | undefined {
  const url = URL.parse(location, `http://${name}${path}`)
  return url !== null && url.hostname === name && url.pathname === path ? url.protocol : undefined
}

type Asking = { name: string; address: string; port: number; path: string; nonce: string; isSecure: boolean }

async function said(secrets: Pick<Secrets, 'mac'>, asking: Asking): Promise<Said> {
  const { name, address, port, path, nonce, isSecure } = asking
  const options = {
    host: address,
    port,
    path,
    headers: { host: name, 'user-agent': 'domain check' },
    agent: false as const,
    signal: AbortSignal.timeout(PATIENCE_MS),
  }
  return await new Promise<Said>(resolve => {
    const hear = (answer: IncomingMessage) => {
      const { statusCode = 0, headers } = answer
      if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
        answer.destroy()
        return resolve({ is: 'redirect', location: headers.location })
      }
      void bodyOf(answer).then(body =>
        resolve({ is: statusCode === 200 ? verdict(secrets, nonce, name, body) : 'other' }),
      )
    }
    // Which certificate answers says nothing of where a name leads; that is looked at by itself.
    const sent = isSecure
      ? requestSecurely({ ...options, servername: name, rejectUnauthorized: false }, hear)
      : requestPlainly(options, hear)
    sent.once('error', error => resolve({ is: isSpoken(error) ? 'other' : 'closed' })).end()
  })
}

/** Somebody answered, if not by HTTP. */
const isSpoken = (error: NodeJS.ErrnoException): boolean => error.code?.startsWith('HPE_') === true

async function bodyOf(answer: IncomingMessage): Promise<string> {
  let body = ''
  try {
    for await (const chunk of answer) {
      body += String(chunk)
      if (body.length > MOST_BYTES) break
    }
  } catch {
    return ''
  }
  return body
}

function verdict(
  secrets: Pick<Secrets, 'mac'>,
  nonce: string,
  name: string,
  body: string,
): 'here' | 'renamed' | 'other' {
  const [, , host] = FORM.exec(body) ?? []
  if (host === undefined) return 'other'
  const right = Buffer.from(probeAnswer(secrets, nonce, host))
  const got = Buffer.from(body)
  if (right.length !== got.length || !timingSafeEqual(right, got)) return 'other'
  return host === name ? 'here' : 'renamed'
}

/** The certificate that an address shows for a name: whose it is, until when, and what is wrong with it; undefined without one. */
export type Shown = {
  readonly issuer: string | null
  readonly not_after: string | null
  readonly problem: string | null
}

/** Reads the certificate by a handshake. */
export async function readCertificate(
  { checkPorts, allowPrivateTargets }: Knocking['config'],
  name: string,
  address: string,
): Promise<Shown | undefined> {
  if (!allowPrivateTargets && !mayBePointedAt(address)) return undefined
  return await new Promise<Shown | undefined>(resolve => {
    const socket = connect({ host: address, port: checkPorts[1] ?? 443, servername: name, rejectUnauthorized: false })
    const end = (shown: Shown | undefined) => {
      socket.destroy()
      resolve(shown)
    }
    socket.setTimeout(PATIENCE_MS, () => end(undefined))
    socket.once('error', () => end(undefined))
    socket.once('secureConnect', () => {
      const { issuer, valid_to } = socket.getPeerCertificate()
      const not_after = Date.parse(valid_to)
      const { authorizationError: fault } = socket
      const by = issuer?.O ?? issuer?.CN
      end({
        issuer: (Array.isArray(by) ? by[0] : by) ?? null,
        not_after: Number.isNaN(not_after) ? null : new Date(not_after).toISOString(),
        problem: socket.authorized ? null : (FAULTS[String(fault)] ?? `browsers do not accept it (${String(fault)})`),
      })
    })
  })
}

const FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'it has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'nobody but the server itself has signed it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate of its issuer is not sent along',
}
