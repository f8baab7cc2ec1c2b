/**
 * The two servers of TLS=auto and TLS=files, beside the one of PORT: https, and http for links that say so. One app answers on all of
 * them; here stands what differs. Neither listens yet. Handshakes are answered for names that have a certificate: any other gets an alert
 * and no certificate, so that nobody learns whose server stands at an address. `/metrics` and `/tls-ask` are on PORT alone.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { DAY_MS } from '../contract/days.ts'
import type { Ground } from '../ground/room.ts'
import { handshakeFailures } from '../traffic/certificates/figures.ts'
import { CONTEXT_ID } from '../traffic/certificates/files.ts'
import type { LiveCertificates } from '../traffic/certificates/live.ts'
import { answerBrokenRequest } from './answer.ts'
import { notePublic, openHosts } from './host.ts'
import { keyOf } from './identify.ts'
import { NosniffResponse } from './nosniff.ts'
import { exchangeDaily, keyOfToday } from './ticket-keys.ts'

/** As the gate's own server has it, which Fastify makes. */
const SHARED = {
  ServerResponse: NosniffResponse,
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 72_000,
}
const HANDSHAKE_MS = 10_000
/** Their key is exchanged daily; whoever comes later makes a full handshake. */
const SESSION_SECONDS = DAY_MS / 1000
/** Of the main host, for a year (RFC 6797): its pages are the dashboard. Custom domains may move to another server, so they have none. */
const HSTS = 'max-age=31536000'

/** What is answered over http on the main host: links that visitors and networks were given, and what looks whether somebody is there. */
const OPEN = /^\/+(?:(?:c|o|l|postback|\.well-known)\/|(?:c|o|l|sluice\.js|postback|healthz|readyz)\/*(?:[?#&]|$))/i
const INSIDE = /^\/(?:metrics|tls-ask)(?:[/?#]|$)/

export type Street = {
  readonly http: Server
  readonly https: SecureServer
  /** Stops what goes on beside the servers, which their owner closes. */
  close(): Promise<void>
}

export async function openStreet(
  app: FastifyInstance,
  ground: Pick<Ground, 'config' | 'db' | 'log' | 'secrets'>,
  certificates: Pick<LiveCertificates, 'contextOf'>,
): Promise<Street> {
  const { config } = ground
  const { baseUrl = '' } = config
  const first = await keyOfToday(ground)
  const hostOf = openHosts(config, () => undefined)
  const isMain = (request: IncomingMessage) => hostOf(request).is === 'main'
  const answer: RequestListener = (request, response) => app.routing(request, response)
  const plain: RequestListener = (request, response) => {
    if (INSIDE.test(request.url ?? '')) return refuse(response, 404, 'not found')
    if (!isMain(request) || OPEN.test(request.url ?? '')) return answer(request, response)
    return sendOn(request, response, baseUrl)
  }
  const secure: RequestListener = (request, response) => {
    if (INSIDE.test(request.url ?? '')) return refuse(response, 404, 'not found')
    if (isMain(request)) response.setHeader('strict-transport-security', HSTS)
    return answer(request, response)
  }
  const http = createServer(SHARED, plain)
  const https = createSecureServer(
    {
      ...SHARED,
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: HANDSHAKE_MS,
      sessionIdContext: CONTEXT_ID,
      sessionTimeout: SESSION_SECONDS,
      ticketKeys: first.key,
      SNICallback: (name, done) => done(null, certificates.contextOf(name.toLowerCase())),
    },
    secure,
  )
  http.on('connection', notePublic)
  https.on('secureConnection', notePublic)
  for (const server of [http, https]) server.on('clientError', answerBrokenRequest)
  https.on('tlsClientError', (error: NodeJS.ErrnoException, socket) =>
    handshakeFailures.inc({ reason: reasonOf(error, socket, certificates) }),
  )
  const exchanging = exchangeDaily(ground, first, key => https.setTicketKeys(key))
  return { http, https, close: () => exchanging.close() }
}

/**
 * To the same page by https. What would change something, or comes with a key, is refused unread: a program that was led on would go on sending
 * its key in clear.
 */
function sendOn({ method = '', url = '/', headers }: IncomingMessage, response: ServerResponse, baseUrl: string): void {
  const isRead = method === 'GET' || method === 'HEAD'
  if (!isRead || keyOf(headers) !== undefined) return refuse(response, 421, `send this to ${baseUrl}`)
  response.writeHead(308, { location: `${baseUrl}/${url.replace(/^\/+/, '')}`, 'cache-control': 'no-store' }).end()
}

function refuse(response: ServerResponse, status: number, error: string): void {
  const body = JSON.stringify({ error })
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    })
    .end(body)
}

function reasonOf(
  { code = '' }: NodeJS.ErrnoException,
  { servername }: TLSSocket,
  certificates: Pick<LiveCertificates, 'contextOf'>,
): string {
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'closed'
  if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return 'timeout'
  if (!code.startsWith('ERR_SSL_')) return 'other'
  const isKnown = typeof servername === 'string' && certificates.contextOf(servername.toLowerCase()) !== undefined
  return isKnown ? 'protocol' : 'no_certificate'
}
