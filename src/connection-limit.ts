// Refuses connections before the process has no file descriptors left. At the system's limit Node closes each new connection without an event, and the journal
// could not open its file either.
import { readFileSync } from 'node:fs'
import type { Server } from 'node:net'
import type { Logger } from 'pino'
import { Counter } from 'prom-client'

/** For files, the database and outgoing calls: about a hundred are open when idle, and more under load. */
const RESERVED = 512
/** The shortest time between two log lines about refused connections. */
const LOG_MS = 10_000

/** The most descriptors this process may open, in the form of /proc/self/limits. Undefined if there is no limit. Node has raised it to the hard limit. */
export function descriptorLimit(limits = readLimits()): number | undefined {
  const found = /^Max open files +(\d+) /m.exec(limits)?.[1]
  return found === undefined ? undefined : Number(found)
}

/** Empty on systems without it. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}

/** How many connections a process may keep open under this limit of descriptors. */
export const mostConnections = (limit: number): number => Math.max(limit - RESERVED, Math.ceil(limit / 2))

const refusals = new Counter({
  name: 'sluice_connections_refused_total',
  help: 'Connections that were closed at once because too many were open, by listening socket',
  labelNames: ['socket'],
})

type LimitedServer = { readonly name: string; readonly server: Server }

/** Closes connections at once while these servers together have `most` of them. Log lines count them and say what to do. */
export function limitConnections(servers: readonly LimitedServer[], most: number, log: Logger): void {
  for (const one of servers) countRefusals(one, most, log)
  const [first] = servers
  if (servers.length === 1 && first !== undefined) {
    first.server.maxConnections = most
    return
  }
  let open = 0
  for (const { server } of servers) {
    let own = 0
    server.on('connection', socket => {
      open += 1
      own += 1
      socket.once('close', () => {
        open -= 1
        own -= 1
      })
    })
    // Node compares it with the connections of this server alone, at each new one.
    Object.defineProperty(server, 'maxConnections', { get: () => most - (open - own) })
  }
}

function countRefusals({ name, server }: LimitedServer, most: number, log: Logger): void {
  let refused = 0
  let waiting: NodeJS.Timeout | undefined
  const write = () => {
    waiting = undefined
    if (refused === 0) return
    log.error(
      { socket: name, refused, most },
      'connections are refused, because too many are open: raise LimitNOFILE of the service (docs/operating.md)',
    )
    refused = 0
    waiting = setTimeout(write, LOG_MS).unref()
  }
  refusals.inc({ socket: name }, 0)
  server.on('drop', () => {
    refused += 1
    refusals.inc({ socket: name })
    if (waiting === undefined) write()
  })
}
