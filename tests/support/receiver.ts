// A postback receiver on loopback that records calls and answers as the test sets it.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Arrival = { method: string; url: string; headers: IncomingMessage['headers']; body: string }
type Answer = (arrival: Arrival, response: ServerResponse) => void | Promise<void>

export type Receiver = {
  /** `http://127.0.0.1:port` */
  readonly origin: string
  readonly arrivals: Arrival[]
  /** The connections open now, and the most at a time. */
  readonly connections: { now: number; most: number }
  /** Resolves once that many calls have arrived. */
  arrived(count: number): Promise<void>
  close(): Promise<void>
}

/** Starts a receiver; it answers 200 "ok" unless told otherwise. */
export async function startReceiver(
  answer: Answer = (_, response) => void response.end('ok'),
  host = '127.0.0.1',
): Promise<Receiver> {
  const arrivals: Arrival[] = []
  const connections = { now: 0, most: 0 }
  const waiting = new Set<{ count: number; resolve: () => void }>()
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const arrival = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
    arrivals.push(arrival)
    for (const one of waiting) if (arrivals.length >= one.count) one.resolve()
    await answer(arrival, response)
  }
  const server = createServer((request, response) => void receive(request, response).catch(() => response.destroy()))
  server.on('connection', socket => {
    connections.now += 1
    connections.most = Math.max(connections.most, connections.now)
    socket.on('close', () => (connections.now -= 1)).on('error', () => {})
  })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    arrivals,
    connections,
    async arrived(count) {
      if (arrivals.length >= count) return
      const one = Promise.withResolvers<void>()
      const entry = { count, resolve: one.resolve }
      waiting.add(entry)
      await one.promise
      waiting.delete(entry)
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
