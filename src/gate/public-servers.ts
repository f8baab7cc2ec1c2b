/**
 * The public servers of TLS=auto and TLS=files, beside the one on PORT: one for HTTPS, one for HTTP. The same app answers on all of them;
 * this file holds the differences. They do not listen yet. A TLS handshake succeeds only for a name that has a certificate; any other gets an
 * alert and no certificate, so that a scanner does not learn whose server it is. `/metrics` and `/tls-ask` are only on PORT.
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
import { markPublic, openHosts } from './host.ts'
import { keyOf } from './identify.ts'
import { NosniffResponse } from './nosniff.ts'
import { changeKeyDaily, keyOfToday } from './ticket-keys.ts'

/** The same limits as those of the server on PORT, which Fastify creates. */
const SERVER_LIMITS = {
  ServerResponse: NosniffResponse,
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 72_000,
}
const HANDSHAKE_MS = 10_000
/** A day, because the ticket key changes daily. A later connection makes a full handshake. */
const SESSION_SECONDS = DAY_MS / 1000
/** A year (RFC 6797), for the main host only, which serves the dashboard. Custom domains may move to another server, so they get none. */
const HSTS = 'max-age=31536000'

/** The paths answered over HTTP on the main host: links given to visitors and networks, and health checks. All others redirect to HTTPS. */
const OPEN_OVER_HTTP =
  /^\/+(?:(?:c|o|l|postback|\.well-known)\/|(?:c|o|l|sluice\.js|postback|healthz|readyz)\/*(?:[?#&]|$))/i
/** The paths that exist on PORT only. */
const INTERNAL = /^\/(?:metrics|tls-ask)(?:[/?#]|$)/

export type PublicServers = {
  readonly http: Server
  readonly https: SecureServer
  /** Stops the daily change of the ticket key. The owner closes the servers themselves. */
  close(): Promise<void>
}

/** Opens the public servers, without listening. */
export async function openPublicServers(
  app: FastifyInstance,
  ground: Pick<Ground, 'config' | 'db' | 'log' | 'secrets'>,
  certificates: Pick<LiveCertificates, 'contextOf'>,
): Promise<PublicServers> {
  const { config } = ground
  const { baseUrl = '' } = config
  const first = await keyOfToday(ground)
  const hostOf = openHosts(config, () => undefined)
  const isMain = (request: IncomingMessage) => hostOf(request).is === 'main'
  const answer: RequestListener = (request, response) => app.routing(request, response)
  const plain: RequestListener = (request, response) => {
    if (INTERNAL.test(request.url ?? '')) return refuse(response, 404, 'not found')
    if (!isMain(request) || OPEN_OVER_HTTP.test(request.url ?? '')) return answer(request, response)
    return redirectToHttps(request, response, baseUrl)
  }
  const secure: RequestListener = (request, response) => {
    if (INTERNAL.test(request.url ?? '')) return refuse(response, 404, 'not found')
    if (isMain(request)) response.setHeader('strict-transport-security', HSTS)
    return answer(request, response)
  }
  const http = createServer(SERVER_LIMITS, plain)
  const https = createSecureServer(
    {
      ...SERVER_LIMITS,
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: HANDSHAKE_MS,
      sessionIdContext: CONTEXT_ID,
      sessionTimeout: SESSION_SECONDS,
      ticketKeys: first.key,
      SNICallback: (name, done) => done(null, certificates.contextOf(name.toLowerCase())),
    },
    secure,
  )
  http.on('connection', markPublic)
  https.on('secureConnection', markPublic)
  for (const server of [http, https]) server.on('clientError', answerBrokenRequest)
  https.on('tlsClientError', (error: NodeJS.ErrnoException, socket) =>
    handshakeFailures.inc({ reason: reasonOf(error, socket, certificates) }),
  )
  const keyChanges = changeKeyDaily(ground, first, key => https.setTicketKeys(key))
  return { http, https, close: () => keyChanges.close() }
}

/**
 * Redirects to the same page over HTTPS. A write or a request with a key is refused unread instead, because a program that is redirected would
 * keep sending its key in clear text.
 */
function redirectToHttps(
  { method = '', url = '/', headers }: IncomingMessage,
  response: ServerResponse,
  baseUrl: string,
): void {
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
