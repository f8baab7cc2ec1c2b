// A proxy between Sluice and its database that can fail: hold everything, hold only the answers, or cut connections.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type pg from 'pg'

/** `flow`: passes everything. `freeze`: holds both directions. `hush`: requests arrive, answers are held. `cut`: connections end, new ones are refused. */
type Mode = 'flow' | 'freeze' | 'hush' | 'cut'

export type Proxy = {
  /** Connection settings of the same database through the proxy. */
  readonly connection: pg.ClientConfig
  /** Takes effect at once for all connections. `flow` releases held data. */
  set(mode: Mode): void
  close(): Promise<void>
}

/** Listens on a loopback port. */
export async function startProxy(target: pg.ClientConfig): Promise<Proxy> {
  const { host = '', port = 5432 } = target
  const place = host.startsWith('/') ? { path: join(host, `.s.PGSQL.${port}`) } : { host, port }
  const pairs = new Set<[Socket, Socket]>()
  let mode: Mode = 'flow'

  const apply = ([client, server]: [Socket, Socket]) => {
    if (mode === 'cut') {
      client.destroy()
      server.destroy()
    }
    if (mode === 'flow' || mode === 'hush') client.resume()
    else client.pause()
    if (mode === 'flow') server.resume()
    else server.pause()
  }

  const proxy = createServer(client => {
    const server = connect(place)
    const pair: [Socket, Socket] = [client, server]
    for (const [from, to] of [pair, [server, client] as const]) {
      from.on('data', chunk => void to.write(chunk))
      from.on('error', () => {})
      from.on('close', () => {
        pairs.delete(pair)
        to.destroy()
      })
    }
    pairs.add(pair)
    apply(pair)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    connection: { ...target, host: '127.0.0.1', port: (proxy.address() as AddressInfo).port },
    set(next) {
      mode = next
      for (const pair of pairs) apply(pair)
    },
    async close() {
      for (const [client, server] of pairs) {
        client.destroy()
        server.destroy()
      }
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
