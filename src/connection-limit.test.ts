import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { pino } from 'pino'
import { register } from 'prom-client'
import { eventually } from '../tests/support/eventually.ts'
import { descriptorLimit, limitConnections, mostConnections } from './connection-limit.ts'

type Logged = { level: number; socket: string; refused: number; most: number }

/** The servers, listening with a limit of connections, and functions to open connections to them. */
async function limited(t: TestContext, servers: readonly { name: string; server: Server }[], most: number) {
  const logged: Logged[] = []
  limitConnections(servers, most, pino({}, { write: line => void logged.push(JSON.parse(line)) }))
  const sockets: Socket[] = []
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    for (const { server } of servers) server.close()
  })
  for (const { server } of servers) await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    logged,
    open: async (server: Server) => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      sockets.push(socket)
      socket.on('error', () => {})
      await once(socket, 'connect')
      return socket
    },
  }
}

const isAccepted = (server: Server, count = 1) =>
  eventually(
    'it is accepted',
    async () => (await new Promise(resolve => server.getConnections((_, n) => resolve(n)))) === count,
  )

const refusedAt = async (name: string) =>
  Number(new RegExp(`refused_total{socket="${name}"} (\\d+)`).exec(await register.metrics())?.[1])

test('connections beyond the limit are closed at once, and counted in the log and the metrics', async t => {
  const server = createServer()
  const { open, logged } = await limited(t, [{ name: 'plain', server }], 1)
  const first = await open(server)
  await isAccepted(server)
  assert.equal(await refusedAt('plain'), 0)
  const second = await open(server)
  await eventually('the second is closed', () => second.closed)
  assert.ok(!first.closed)
  assert.deepEqual(
    logged.map(({ level, socket, refused, most }) => [level, socket, refused, most]),
    [[50, 'plain', 1, 1]],
  )
  assert.equal(await refusedAt('plain'), 1)
})

test('the limit is for all sockets of the process together, and a closed connection makes room at each', async t => {
  const [plain, https] = [createServer(), createTlsServer()]
  const { open } = await limited(
    t,
    [
      { name: 'http', server: plain },
      { name: 'https', server: https },
    ],
    2,
  )
  const [one, two] = [await open(plain), await open(https)]
  await Promise.all([isAccepted(plain), isAccepted(https)])
  for (const server of [plain, https]) {
    const refused = await open(server)
    await eventually('it is closed', () => refused.closed)
  }
  assert.deepEqual([await refusedAt('http'), await refusedAt('https')], [1, 1])
  two.destroy()
  await isAccepted(https, 0)
  const three = await open(plain)
  await isAccepted(plain, 2)
  const four = await open(https)
  await eventually('it is closed', () => four.closed)
  assert.deepEqual([one.closed, three.closed], [false, false])
})

test('the limit of descriptors is read from the system, and some are reserved', () => {
  assert.equal(
    descriptorLimit(
      'Limit  Soft Limit  Hard Limit  Units\nMax open files            65536                65536                files\n',
    ),
    65536,
  )
  assert.equal(
    descriptorLimit('Max open files            unlimited            unlimited            files\n'),
    undefined,
  )
  assert.equal(descriptorLimit(''), undefined)
  assert.deepEqual([65536, 1024, 100].map(mostConnections), [65024, 512, 50])
})
