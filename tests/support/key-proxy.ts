// Adds a key to every request, for software that cannot send one. Host and Origin are passed on unchanged.
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export type KeyProxy = { readonly address: string; close(): Promise<void> }

/** Listens on a loopback port and forwards to the server at `target`. */
export async function startKeyProxy(target: string, key: string): Promise<KeyProxy> {
  const { hostname, port } = new URL(target)
  const proxy = createServer((received, reply) => {
    const { method, url: path, headers } = received
    const onward = request({ hostname, port, method, path, headers: { ...headers, 'x-api-key': key } }, answer => {
      reply.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(reply)
    })
    onward.on('error', error => reply.destroy(error))
    received.pipe(onward)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    address: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    async close() {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
