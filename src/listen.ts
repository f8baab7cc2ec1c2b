// The doors to the street: the sockets that requests come in by, opened here or handed on by whoever keeps them over a restart, and how they
// are closed without anybody being turned away who has been let in.
import { once } from 'node:events'
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from './ground/config.ts'
import { StartError } from './ground/start-error.ts'

/** What a socket is for, as a socket unit calls it (`FileDescriptorName`): PORT's, and the two of the street. */
const NAMES = ['plain', 'http', 'https'] as const
type SocketName = (typeof NAMES)[number]

/** A server, and where it listens unless a socket of its name was handed on. `setting` is the one that names its port. */
export type Door = {
  readonly name: SocketName
  readonly server: HttpServer | HttpsServer
  readonly port: number
  readonly host: string
  readonly setting: 'PORT' | 'HTTP_PORT' | 'HTTPS_PORT'
}

/** Open doors: the address people open, and how they are closed. */
export type Doors = {
  readonly address: string
  /** Lets nobody in any more and resolves when all that was asked has been answered, or ten seconds are over. */
  readonly close: () => Promise<void>
}

/** Of the descriptors that are handed on, as sd_listen_fds(3) has it. */
const FIRST_DESCRIPTOR = 3
/** Who waits while a process is exchanged waits here; the system cuts it to its own limit (net.core.somaxconn, 4096). */
const BACKLOG = 4096
/** How long kept connections may still come with a request and be told that it is the last, and silent ones may begin to speak. */
const GRACE_MS = 500
/** How long requests that have begun may take to end. */
const DRAIN_MS = 10_000
/** Between two looks at which connections have nothing left to answer. */
const LOOK_MS = 25

/**
 * The sockets that were handed on to this process, by name: `LISTEN_FDS` of them from descriptor 3 on, `LISTEN_FDNAMES` names them, one
 * without a name is `plain`. None where they are meant for another process (`LISTEN_PID`) or a name says nothing here; the log says why.
 */
export function inheritedSockets(
  { LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES }: NodeJS.ProcessEnv,
  pid: number,
  log: Logger,
): ReadonlyMap<SocketName, number> {
  const none = (why: string): ReadonlyMap<SocketName, number> => {
    log.warn({ LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES }, `sockets were handed on and are not used: ${why}`)
    return new Map()
  }
  if (LISTEN_FDS === undefined || LISTEN_FDS === '') return new Map()
  if (LISTEN_PID !== String(pid))
    return none(
      'LISTEN_PID is another process; start node itself, because npm hands nothing on (deploy/sluice.service)',
    )
  const count = Number(LISTEN_FDS)
  const names = LISTEN_FDNAMES?.split(':') ?? (count === 1 ? ['plain'] : [])
  if (!Number.isInteger(count) || count < 1 || names.length !== count || new Set(names).size !== count)
    return none('LISTEN_FDNAMES has to name each of them once')
  const isKnown = (name: string): name is SocketName => NAMES.some(known => known === name)
  if (!names.every(isKnown)) return none(`each is named ${NAMES.join(', ')} (FileDescriptorName of its socket unit)`)
  return new Map(names.map((name, at) => [name, FIRST_DESCRIPTOR + at]))
}

/**
 * Opens PORT for `app`, and the doors `beside` it, each on the socket of its name that was handed on, else on one of its own.
 * @throws StartError for one that cannot be opened
 */
export async function openDoors(
  app: FastifyInstance,
  config: Pick<Config, 'port' | 'host' | 'reusePort'>,
  log: Logger,
  beside: readonly Door[] = [],
): Promise<Doors> {
  const plain: Door = { name: 'plain', server: app.server, port: config.port, host: config.host, setting: 'PORT' }
  const doors = [plain, ...beside]
  const inherited = inheritedSockets(process.env, process.pid, log)
  for (const name of inherited.keys())
    if (!doors.some(door => door.name === name))
      log.warn({ socket: name }, 'a socket was handed on that nobody here answers: TLS is off')
  const guests = doors.map(({ server }) => guestsOf(server))
  await app.ready()
  const opened = (door: Door) => openDoor(app, door, inherited.get(door.name), config.reusePort)
  const address = await opened(plain)
  for (const door of beside) await opened(door)
  return { address, close: () => drain(doors, guests) }
}

/** Answers where it is. */
async function openDoor(app: FastifyInstance, door: Door, fd: number | undefined, reusePort: boolean): Promise<string> {
  const { server, port, host } = door
  try {
    if (fd !== undefined) {
      server.listen({ fd }, BACKLOG)
      await once(server, 'listening')
    } else if (server === app.server) {
      // Of two addresses that `localhost` has, Fastify opens both.
      return await app.listen({ port, host, backlog: BACKLOG, ...(reusePort ? { reusePort } : {}) })
    } else {
      server.listen({ port, host, backlog: BACKLOG, reusePort })
      await once(server, 'listening')
    }
    return addressOf(server)
  } catch (error) {
    throw explained(error, door, fd)
  }
}

function explained(error: unknown, { name, port, host, setting }: Door, fd: number | undefined): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (fd !== undefined)
    return new StartError(`descriptor ${fd}, handed on as ${name}, is no socket to listen on: ${String(code)}`)
  if (code === 'EADDRINUSE')
    return new StartError(`port ${port} of ${host} is taken: stop who uses it, or set ${setting} to another`)
  if (code === 'EACCES')
    return new StartError(
      `this user may not open port ${port}: let a socket unit open it (deploy/sluice-${name}.socket), give the service ` +
        `AmbientCapabilities=CAP_NET_BIND_SERVICE, lower net.ipv4.ip_unprivileged_port_start, or set ${setting} to one above 1023`,
    )
  if (code === 'EAFNOSUPPORT')
    return new StartError(
      `${host} is an address of IPv6, which this machine has not: set ${host === '::' ? 'TLS_HOST=0.0.0.0' : 'another'}`,
    )
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new StartError(`${name === 'plain' ? 'HOST' : 'TLS_HOST'} ${host} is no address of this machine`)
  if (code === 'ENOTSUP' || code === 'EOPNOTSUPP')
    return new StartError('this system cannot share a port among processes: leave REUSE_PORT out')
  return error
}

function addressOf(server: Door['server']): string {
  const bound = server.address()
  if (bound === null || typeof bound === 'string') return bound ?? ''
  return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`
}

/** Those who are connected, as they come and go. A connection with TLS counts from its handshake on. */
function guestsOf(server: Door['server']): ReadonlySet<Socket> {
  const guests = new Set<Socket>()
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    guests.add(socket)
    socket.once('close', () => guests.delete(socket))
  })
  return guests
}

/**
 * First every answer says that it is the connection's last, and new guests are still let in, so that whoever is about to ask over a kept
 * connection is not cut off. Then the doors close: what nobody asks over goes at once, what is being answered goes behind its answer.
 */
async function drain(doors: readonly Door[], guests: readonly ReadonlySet<Socket>[]): Promise<void> {
  const begun = performance.now()
  const isOver = (limit_ms: number) => performance.now() - begun >= limit_ms
  const connected = () => guests.flatMap(some => [...some])
  const last = (_: IncomingMessage, response: ServerResponse) => void response.setHeader('connection', 'close')
  for (const { server } of doors) server.prependListener('request', last)
  while (connected().length > 0 && !isOver(GRACE_MS)) await sleep(LOOK_MS)
  const closed = Promise.all(doors.map(({ server }) => new Promise(resolve => server.close(resolve))))
  const isClosed = closed.then(() => true)
  for (;;) {
    for (const { server } of doors) server.closeIdleConnections()
    // Browsers open connections ahead that they may never speak over; for Node those are not idle.
    if (isOver(2 * GRACE_MS)) for (const guest of connected()) if (guest.bytesRead === 0) guest.destroy()
    if (isOver(DRAIN_MS)) for (const guest of connected()) guest.destroy()
    if (await Promise.race([isClosed, sleep(LOOK_MS, false)])) return
    // A handshake under way is no guest yet and may last; nobody has been promised anything over it.
    if (isOver(DRAIN_MS + GRACE_MS)) return
  }
}
