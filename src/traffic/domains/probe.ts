/**
 * Probes the addresses of a name: does a request for it reach Sluice? It has its own HTTP client, which is of no use for attacks on internal hosts:
 * fixed ports and path; only public addresses and those of this machine; at most one redirect, and only to https of the same name; at most a KiB
 * and a few seconds. The answer itself is never shown, only its meaning.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { type IncomingMessage, request as requestPlainly } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { connect } from 'node:tls'
import type { Config } from '../../ground/config.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import { mayBePointedAt } from '../../ground/guard.ts'

const TIMEOUT_MS = 3000
const MOST_BYTES = 1024
const PROOF = /^proof ([\w-]{43}) (\S*)\n$/

/** The form of a nonce. */
export const NONCE = /^[\w-]{22}$/

/** The answer to a probe: the name of the request, with a proof that it reached this installation. */
export function probeAnswer({ mac }: Pick<Secrets, 'mac'>, nonce: string, host: string): string {
  return `proof ${mac('domain probe', `${nonce} ${host}`).toString('base64url')} ${host}\n`
}

/**
 * The result of probing an address. `here`: the request arrived, with `isPort80Closed` only over https; `renamed`: it arrived with another Host
 * header; `other`: another server answers; `loop`: http and https redirect to each other; `closed`: nothing answers; `inner`: an internal address,
 * which was not probed.
 */
export type ProbeResult = {
  readonly is: 'here' | 'renamed' | 'other' | 'loop' | 'closed' | 'inner'
  readonly isPort80Closed?: true
}

type ProbeAnswer = { is: 'here' | 'renamed' | 'other' | 'closed' } | { is: 'redirect'; location: string }

type ProbeGround = { config: Pick<Config, 'checkPorts' | 'allowPrivateTargets'>; secrets: Pick<Secrets, 'mac'> }

/** Probes one address for the name: over http, and over https if http redirects there or is closed. */
export async function probe({ config, secrets }: ProbeGround, name: string, address: string): Promise<ProbeResult> {
  if (!config.allowPrivateTargets && !mayBePointedAt(address)) return { is: 'inner' }
  const nonce = randomBytes(16).toString('base64url')
  const path = `/.well-known/proof/${nonce}`
  const [http = 80, https = 443] = config.checkPorts
  const ask = (port: number, isSecure: boolean) => sendProbe(secrets, { name, address, port, path, nonce, isSecure })
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

/** The scheme of a redirect to the same name and path; undefined for any other redirect. */
function sameName(location: string, name: string, path: string): string | undefined {
  const url = URL.parse(location, `http://${name}${path}`)
  return url !== null && url.hostname === name && url.pathname === path ? url.protocol : undefined
}

type ProbeRequest = { name: string; address: string; port: number; path: string; nonce: string; isSecure: boolean }

async function sendProbe(secrets: Pick<Secrets, 'mac'>, request: ProbeRequest): Promise<ProbeAnswer> {
  const { name, address, port, path, nonce, isSecure } = request
  const options = {
    host: address,
    port,
    path,
    headers: { host: name, 'user-agent': 'domain check' },
    agent: false as const,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }
  return await new Promise<ProbeAnswer>(resolve => {
    const onAnswer = (answer: IncomingMessage) => {
      const { statusCode = 0, headers } = answer
      if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
        answer.destroy()
        return resolve({ is: 'redirect', location: headers.location })
      }
      void bodyOf(answer).then(body =>
        resolve({ is: statusCode === 200 ? verdict(secrets, nonce, name, body) : 'other' }),
      )
    }
    // Any certificate is accepted here. Certificates are checked separately.
    const sent = isSecure
      ? requestSecurely({ ...options, servername: name, rejectUnauthorized: false }, onAnswer)
      : requestPlainly(options, onAnswer)
    sent.once('error', error => resolve({ is: isNotHttp(error) ? 'other' : 'closed' })).end()
  })
}

/** Whether something answered, but not with HTTP. */
const isNotHttp = (error: NodeJS.ErrnoException): boolean => error.code?.startsWith('HPE_') === true

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
  const [, , host] = PROOF.exec(body) ?? []
  if (host === undefined) return 'other'
  const expected = Buffer.from(probeAnswer(secrets, nonce, host))
  const received = Buffer.from(body)
  if (expected.length !== received.length || !timingSafeEqual(expected, received)) return 'other'
  return host === name ? 'here' : 'renamed'
}

/** The certificate that an address presents for a name. `problem` says why browsers refuse it. */
export type SeenCertificate = {
  readonly issuer: string | null
  readonly not_after: string | null
  readonly problem: string | null
}

/** Reads the certificate by a TLS handshake; undefined if there is none. */
export async function readCertificate(
  { checkPorts, allowPrivateTargets }: ProbeGround['config'],
  name: string,
  address: string,
): Promise<SeenCertificate | undefined> {
  if (!allowPrivateTargets && !mayBePointedAt(address)) return undefined
  return await new Promise<SeenCertificate | undefined>(resolve => {
    const socket = connect({ host: address, port: checkPorts[1] ?? 443, servername: name, rejectUnauthorized: false })
    const end = (certificate: SeenCertificate | undefined) => {
      socket.destroy()
      resolve(certificate)
    }
    socket.setTimeout(TIMEOUT_MS, () => end(undefined))
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
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the intermediate certificate is missing',
}
