import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { pino } from 'pino'
import { eventually } from '../tests/support/eventually.ts'
import { descriptorLimit, limitConnections, mostConnections } from './connection-limit.ts'

test('connections beyond the limit are closed at once, and the log counts them', async t => {
  const logged: { level: number; socket: string; refused: number; most: number }[] = []
  const log = pino({}, { write: line => void logged.push(JSON.parse(line)) })
  const server = createServer()
  limitConnections(server, 'plain', 1, log)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets: Socket[] = []
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const open = async () => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  const first = await open()
  await eventually(
    'it is accepted',
    async () => (await new Promise(resolve => server.getConnections((_, n) => resolve(n)))) === 1,
  )
  const second = await open()
  await eventually('the second is closed', () => second.closed)
  assert.ok(!first.closed)
  assert.deepEqual(
    logged.map(({ level, socket, refused, most }) => [level, socket, refused, most]),
    [[50, 'plain', 1, 1]],
  )
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
