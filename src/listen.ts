// Opens the listening sockets, or uses sockets inherited from a service manager that keeps them open over a restart. Closing them lets every
// accepted request finish.
import { once } from 'node:events'
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { descriptorLimit, limitConnections, mostConnections } from './connection-limit.ts'
import type { Config } from './ground/config.ts'
import { StartError } from './ground/start-error.ts'

/** The names of sockets in a socket unit (`FileDescriptorName`): PORT's is `plain`, the public servers' are `http` and `https`. */
const NAMES = ['plain', 'http', 'https'] as const
type SocketName = (typeof NAMES)[number]

/** A server and the address it listens on, unless a socket with its name was inherited. `setting` is the setting for its port. */
export type Listener = {
  readonly name: SocketName
  readonly server: HttpServer | HttpsServer
  readonly port: number
  readonly host: string
  readonly setting: 'PORT' | 'HTTP_PORT' | 'HTTPS_PORT'
}

/** Open sockets, with the address that people open. */
export type OpenListeners = {
  readonly address: string
  /** Accepts no new connections. Resolves when every request has been answered, or after ten seconds. */
  readonly close: () => Promise<void>
}

/** The first inherited descriptor, see sd_listen_fds(3). */
const FIRST_DESCRIPTOR = 3
/** Connections wait in this queue while a process is replaced. The system limits it to net.core.somaxconn (4096). */
const BACKLOG = 4096
/** The time in which kept-alive connections may send a last request, and new ones their first. */
const GRACE_MS = 500
/** The time for requests in flight to finish. */
const DRAIN_MS = 10_000
/** The interval at which idle connections are closed while draining. */
const POLL_MS = 25

/**
 * The sockets that this process inherited, by name: `LISTEN_FDS` of them from descriptor 3 on, named by `LISTEN_FDNAMES`; a single one without a
 * name is `plain`. None if they belong to another process (`LISTEN_PID`) or a name is unknown; the log then says why.
 */
export function inheritedSockets(
  { LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES }: NodeJS.ProcessEnv,
  pid: number,
  log: Logger,
): ReadonlyMap<SocketName, number> {
  const none = (why: string): ReadonlyMap<SocketName, number> => {
    log.warn({ LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES }, `inherited sockets are not used: ${why}`)
    return new Map()
  }
  if (LISTEN_FDS === undefined || LISTEN_FDS === '') return new Map()
  if (LISTEN_PID !== String(pid))
    return none(
      'LISTEN_PID is another process; start node directly, because npm does not pass sockets on (deploy/sluice.service)',
    )
  const count = Number(LISTEN_FDS)
  const names = LISTEN_FDNAMES?.split(':') ?? (count === 1 ? ['plain'] : [])
  if (!Number.isInteger(count) || count < 1 || names.length !== count || new Set(names).size !== count)
    return none('LISTEN_FDNAMES must name each of them once')
  const isKnown = (name: string): name is SocketName => NAMES.some(known => known === name)
  if (!names.every(isKnown))
    return none(`each must be named one of ${NAMES.join(', ')} (FileDescriptorName of its socket unit)`)
  return new Map(names.map((name, at) => [name, FIRST_DESCRIPTOR + at]))
}

/**
 * Opens PORT for `app`, and the listeners `beside` it. Each uses the inherited socket with its name, otherwise a new one.
 * @throws StartError when one cannot be opened
 */
export async function openListeners(
  app: FastifyInstance,
  config: Pick<Config, 'port' | 'host' | 'reusePort'>,
  log: Logger,
  beside: readonly Listener[] = [],
): Promise<OpenListeners> {
  const plain: Listener = { name: 'plain', server: app.server, port: config.port, host: config.host, setting: 'PORT' }
  const listeners = [plain, ...beside]
  const inherited = inheritedSockets(process.env, process.pid, log)
  for (const name of inherited.keys())
    if (!listeners.some(listener => listener.name === name))
      log.warn({ socket: name }, 'an inherited socket is not used, because TLS is off')
  const limit = descriptorLimit()
  if (limit !== undefined) limitConnections(listeners, mostConnections(limit), log)
  const connections = listeners.map(({ server }) => connectionsOf(server))
  await app.ready()
  const opened = (listener: Listener) => openListener(app, listener, inherited.get(listener.name), config.reusePort)
  const address = await opened(plain)
  for (const listener of beside) await opened(listener)
  return { address, close: () => drain(listeners, connections) }
}

/** Opens one listener and returns its address. */
async function openListener(
  app: FastifyInstance,
  listener: Listener,
  fd: number | undefined,
  reusePort: boolean,
): Promise<string> {
  const { server, port, host } = listener
  try {
    if (fd !== undefined) {
      server.listen({ fd }, BACKLOG)
      await once(server, 'listening')
    } else if (server === app.server) {
      // Fastify is used here, because for `localhost` it opens both the IPv4 and the IPv6 address.
      return await app.listen({ port, host, backlog: BACKLOG, ...(reusePort ? { reusePort } : {}) })
    } else {
      server.listen({ port, host, backlog: BACKLOG, reusePort })
      await once(server, 'listening')
    }
    return addressOf(server)
  } catch (error) {
    throw explained(error, listener, fd)
  }
}

function explained(error: unknown, { name, port, host, setting }: Listener, fd: number | undefined): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (fd !== undefined)
    return new StartError(`the inherited descriptor ${fd} (${name}) is not a listening socket: ${String(code)}`)
  if (code === 'EADDRINUSE')
    return new StartError(
      `port ${port} of ${host} is taken: stop the program that uses it, or set ${setting} to another port`,
    )
  if (code === 'EACCES')
    return new StartError(
      `this user may not open port ${port}: let a socket unit open it (deploy/sluice-${name}.socket), give the service ` +
        `AmbientCapabilities=CAP_NET_BIND_SERVICE, lower net.ipv4.ip_unprivileged_port_start, or set ${setting} to one above 1023`,
    )
  if (code === 'EAFNOSUPPORT')
    return new StartError(
      `${host} is an IPv6 address, and this machine has no IPv6: set ${host === '::' ? 'TLS_HOST=0.0.0.0' : 'another address'}`,
    )
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new StartError(`${name === 'plain' ? 'HOST' : 'TLS_HOST'} ${host} is not an address of this machine`)
  if (code === 'ENOTSUP' || code === 'EOPNOTSUPP')
    return new StartError('this system cannot share a port among processes: remove REUSE_PORT')
  return error
}

function addressOf(server: Listener['server']): string {
  const bound = server.address()
  if (bound === null || typeof bound === 'string') return bound ?? ''
  return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`
}

/** The open connections of a server, kept up to date. A TLS connection counts from its handshake on. */
function connectionsOf(server: Listener['server']): ReadonlySet<Socket> {
  const connections = new Set<Socket>()
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  return connections
}

/** Node keeps the answer in progress at its connection, without a public name. */
type Answering = Socket & { readonly _httpMessage?: ServerResponse | null }

/** Lets the answer to a request in flight announce that its connection closes: its client would send the next request into the closing connection. */
function announceEnd(connection: Answering): void {
  const answer = connection._httpMessage
  if (answer && !answer.headersSent) answer.setHeader('connection', 'close')
}

/**
 * Closes in two steps. First every answer announces that its connection closes, while new connections are still accepted, so that a request
 * about to be sent over a kept-alive connection is not lost. Then the sockets close: idle connections at once, busy ones after their answer.
 */
async function drain(listeners: readonly Listener[], connections: readonly ReadonlySet<Socket>[]): Promise<void> {
  const begun = performance.now()
  const isOver = (limit_ms: number) => performance.now() - begun >= limit_ms
  const connected = () => connections.flatMap(some => [...some])
  const last = (_: IncomingMessage, response: ServerResponse) => void response.setHeader('connection', 'close')
  for (const { server } of listeners) server.prependListener('request', last)
  for (const connection of connected()) announceEnd(connection)
  while (connected().length > 0 && !isOver(GRACE_MS)) await sleep(POLL_MS)
  const closed = Promise.all(listeners.map(({ server }) => new Promise(resolve => server.close(resolve))))
  const isClosed = closed.then(() => true)
  for (;;) {
    for (const { server } of listeners) server.closeIdleConnections()
    // Browsers open connections in advance and may never use them. Node does not count those as idle.
    if (isOver(2 * GRACE_MS)) for (const connection of connected()) if (connection.bytesRead === 0) connection.destroy()
    if (isOver(DRAIN_MS)) for (const connection of connected()) connection.destroy()
    if (await Promise.race([isClosed, sleep(POLL_MS, false)])) return
    // A TLS handshake in progress is not counted and may take longer; no request has been accepted over it.
    if (isOver(DRAIN_MS + GRACE_MS)) return
  }
}
