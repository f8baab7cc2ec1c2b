import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, test } from 'node:test'
import Fastify, { type FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { eventually } from '../tests/support/eventually.ts'
import { StartError } from './ground/start-error.ts'
import { type Listener, inheritedSockets, openListeners } from './listen.ts'

const log = pino({ level: 'silent' })
const anywhere = { port: 0, host: '127.0.0.1', reusePort: false }

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

/** A server whose `/slow` is answered when a function in `waiting` is called. */
async function startServer(config: Partial<typeof anywhere> = {}) {
  const waiting: (() => void)[] = []
  const app: FastifyInstance = Fastify()
  app.get('/', async () => 'here')
  app.get('/slow', async () => {
    await new Promise<void>(resolve => waiting.push(resolve))
    return 'at last'
  })
  ends.push(() => app.close())
  const listeners = await openListeners(app, { ...anywhere, ...config }, log)
  return { ...listeners, port: Number(new URL(listeners.address).port), waiting }
}

/** A connection that records what it received, and whether it was cut off. */
async function openConnection(port: number) {
  const socket: Socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const received = { text: '', isClosed: false, error: undefined as string | undefined }
  socket.on('data', (chunk: Buffer) => (received.text += chunk.toString()))
  socket.on('error', (error: NodeJS.ErrnoException) => (received.error = error.code))
  socket.on('close', () => (received.isClosed = true))
  ends.push(() => socket.destroy())
  return { received, ask: (path: string) => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`) }
}

describe('inherited sockets', () => {
  const read = (env: Record<string, string>) => [...inheritedSockets(env, 7, log)]

  test('are identified by their names; a single one without a name is the plain one', () => {
    assert.deepEqual(read({ LISTEN_FDS: '1', LISTEN_PID: '7' }), [['plain', 3]])
    assert.deepEqual(read({ LISTEN_FDS: '2', LISTEN_PID: '7', LISTEN_FDNAMES: 'http:https' }), [
      ['http', 3],
      ['https', 4],
    ])
    assert.deepEqual(read({}), [])
  })

  test('are not used, and the log says why, if they are for another process or have other names', () => {
    const wrong: [Record<string, string>, RegExp][] = [
      [{ LISTEN_FDS: '1', LISTEN_PID: '8' }, /LISTEN_PID is another process/],
      [{ LISTEN_FDS: '1' }, /LISTEN_PID is another process/],
      [{ LISTEN_FDS: '2', LISTEN_PID: '7' }, /must name each of them once/],
      [{ LISTEN_FDS: '2', LISTEN_PID: '7', LISTEN_FDNAMES: 'http:http' }, /must name each of them once/],
      [{ LISTEN_FDS: 'x', LISTEN_PID: '7', LISTEN_FDNAMES: 'http' }, /must name each of them once/],
      [
        { LISTEN_FDS: '1', LISTEN_PID: '7', LISTEN_FDNAMES: 'sluice.socket' },
        /each must be named one of plain, http, https/,
      ],
    ]
    for (const [env, why] of wrong) {
      const lines: string[] = []
      const hearing = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
      assert.deepEqual([...inheritedSockets(env, 7, hearing)], [])
      assert.equal(lines.length, 1)
      assert.match(lines.join(), why)
    }
  })
})

describe('closing sockets', () => {
  test('answer all accepted requests on every connection, and announce that it closes', async () => {
    const { port, waiting, close } = await startServer()
    const [slow, kept, silent] = [await openConnection(port), await openConnection(port), await openConnection(port)]
    slow.ask('/slow')
    kept.ask('/')
    await eventually('the slow one waits', () => waiting.length === 1 && kept.received.text.endsWith('here'))
    assert.doesNotMatch(kept.received.text, /connection: close/i)
    const closed = close()
    kept.ask('/')
    const late = await openConnection(port)
    late.ask('/')
    await eventually('both are answered', () => kept.received.isClosed && late.received.isClosed)
    for (const { received } of [kept, late]) {
      assert.match(received.text, /connection: close[^]*here$/i)
      assert.equal(received.error, undefined)
    }
    await eventually('the silent one is closed', () => silent.received.isClosed)
    assert.equal(slow.received.isClosed, false)
    waiting[0]?.()
    await closed
    await eventually('the slow one has its answer', () => slow.received.isClosed)
    assert.match(slow.received.text, /connection: close[^]*at last$/i)
    await assert.rejects(openConnection(port), { code: 'ECONNREFUSED' })
  })

  test('do not wait for idle connections', async () => {
    const { port, close } = await startServer()
    const kept = await openConnection(port)
    kept.ask('/')
    await eventually('it is answered', () => kept.received.text.endsWith('here'))
    await close()
    await eventually('it is closed', () => kept.received.isClosed)
    assert.equal(kept.received.error, undefined)
  })
})

describe('sockets that cannot be opened', () => {
  test('a taken port is named, and can be shared if both processes allow it', async () => {
    const alone = await startServer()
    await assert.rejects(
      startServer({ port: alone.port }),
      (error: Error) =>
        error instanceof StartError && error.message.startsWith(`port ${alone.port} of 127.0.0.1 is taken`),
    )
    await assert.rejects(startServer({ port: alone.port, reusePort: true }), /is taken/)
    const first = await startServer({ reusePort: true })
    const second = await startServer({ port: first.port, reusePort: true })
    assert.equal(second.port, first.port)
  })

  test('an address of another machine is named', async () => {
    await assert.rejects(startServer({ host: '192.0.2.1' }), /HOST 192.0.2.1 is not an address of this machine/)
  })

  test('the error of a further socket names its setting', async () => {
    const { port, address } = await startServer()
    const app = Fastify()
    ends.push(() => app.close())
    const beside: Listener = { name: 'http', server: createServer(), port, host: '127.0.0.1', setting: 'HTTP_PORT' }
    await assert.rejects(
      openListeners(app, anywhere, log, [beside]),
      /is taken: stop the program that uses it, or set HTTP_PORT/,
    )
    assert.equal(await (await fetch(address)).text(), 'here')
  })
})
