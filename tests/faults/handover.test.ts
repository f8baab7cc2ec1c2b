// Replaces processes while visitors come: the visitors wait in a socket that outlives the processes.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { request as secureRequest } from 'node:https'
import { BoundSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { START_FLAGS } from '../../scripts/start-flags.ts'
import { toUuid } from '../../src/contract/ids.ts'
import { assertBooks } from '../support/audit.ts'
import { makeAuthority } from '../support/certificates.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { type FaultGround, faultGround, IS_LONG, SECONDS } from '../support/fault-ground.ts'
import type { Target } from '../support/load.ts'
import { freePort } from '../support/ports.ts'
import { findProgram } from '../support/programs.ts'
import { MAIN_FILE, postmasterOf, type Sluice, startSluice } from '../support/sluice.ts'
import { readAnswer } from '../support/street.ts'

const FRESH_VISITORS = 16
const KEPT_VISITORS = 4
/** Between two requests of a visitor: twenty visitors still make hundreds of requests a second, and other tests need the machine. */
const PAUSE_MS = IS_LONG ? 0 : 25

let fresh: FreshDatabase
let ground: FaultGround
before(async () => {
  fresh = await freshDatabase()
  ground = await faultGround(fresh.database, fresh.url, 2)
})
after(async () => {
  await ground.end()
  await fresh.drop()
})

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

type Answer = { status: number; location: string; body: string }

/** One request, over its own connection unless an agent keeps one. @throws the connection's error. */
function ask(port: number, path: string, { agent, key, body }: { agent?: Agent; key?: string; body?: object } = {}) {
  const headers = { host: 'localhost:8080', ...(key === undefined ? {} : { 'x-api-key': key }) }
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const method = body === undefined ? 'GET' : 'POST'
  const asked = request({ port, host: '127.0.0.1', path, method, headers, agent: agent ?? false }, answer => {
    let text = ''
    answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
    answer.on('error', reject)
    const { location = '' } = answer.headers
    answer.on('end', () => resolve({ status: answer.statusCode ?? 0, location, body: text }))
  })
  asked.on('error', reject)
  asked.end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}

/** Visitors who keep coming until `end`, and the answers they got; every fourth converts. */
function visitors(port: number) {
  const clicks: string[] = []
  const events: string[] = []
  const wrong: string[] = []
  let isOver = false
  const visit = async ({ campaign, key }: Target, turn: number, agent?: Agent): Promise<void> => {
    const answer = await ask(port, `/c/${campaign}`, agent && { agent })
    const clickId = URL.parse(answer.location)?.searchParams.get('c')
    if (answer.status !== 302 || clickId === undefined || clickId === null)
      return void wrong.push(`a click was answered ${answer.status} ${answer.location}`)
    clicks.push(toUuid(clickId) ?? assert.fail(clickId))
    if (turn % 4 !== 0) return
    const body = { clickId, type: 'lead', nonce: clickId, payload: { telegram_user_id: 1 + (turn % 50) } }
    const reported = await ask(port, '/api/events', { key, body, ...(agent && { agent }) })
    if (reported.status !== 201) return void wrong.push(`a conversion was answered ${reported.status} ${reported.body}`)
    events.push(toUuid((JSON.parse(reported.body) as { id: string }).id) ?? assert.fail(reported.body))
  }
  const come = async (n: number, agent?: Agent) => {
    for (let turn = 0; !isOver; turn += 1) {
      const target = ground.targets[(n + turn) % ground.targets.length] ?? assert.fail()
      await visit(target, turn, agent).catch((error: NodeJS.ErrnoException) =>
        wrong.push(`nobody answered: ${error.code}`),
      )
      await sleep(PAUSE_MS)
    }
    agent?.destroy()
  }
  const all = [
    ...Array.from({ length: FRESH_VISITORS }, (_, n) => come(n)),
    ...Array.from({ length: KEPT_VISITORS }, (_, n) => come(n, new Agent({ keepAlive: true, maxSockets: 1 }))),
  ]
  const end = async () => {
    isOver = true
    await Promise.all(all)
  }
  return { clicks, events, wrong, end }
}

/** Asserts that the acknowledged rows are stored once, and no others: failed requests left none. */
async function assertOnceEach(
  table: 'clicks' | 'events',
  acknowledged: readonly string[],
  before: ReadonlySet<string>,
) {
  const stored = [...(await idsOf(table))].filter(id => !before.has(id))
  assert.equal(new Set(acknowledged).size, acknowledged.length, `no two were acknowledged the same ${table}`)
  assert.deepEqual(stored.toSorted(), acknowledged.toSorted())
}

async function idsOf(table: 'clicks' | 'events'): Promise<Set<string>> {
  const { rows } = await fresh.database.reads.query<{ id: string }>(`select id from ${table}`)
  return new Set(rows.map(({ id }) => id))
}

describe('with a socket that outlives its processes', () => {
  for (const count of IS_LONG ? [1, 3] : [2])
    test(`${count === 1 ? 'one process is' : `${count} processes are`} restarted under traffic: nobody is refused or cut off, no click is stored twice`, async () => {
      const socket = new BoundSocket({ port: 0, host: '127.0.0.1' })
      ends.push(() => socket.close())
      const { port } = socket.address()
      const start = (number: number) => ground.start(number, {}, { socket: socket.fd() })
      const processes = await Promise.all(Array.from({ length: count }, (_, number) => start(number)))
      ends.push(() => Promise.all(processes.map(one => one.stop())))
      const before = { clicks: await idsOf('clicks'), events: await idsOf('events') }
      const { clicks, events, wrong, end } = visitors(port)
      const until = performance.now() + SECONDS * 1000
      let restarts = 0
      for (; restarts < count || performance.now() < until; restarts += 1) {
        const seen = clicks.length
        await eventually('visitors are served', () => clicks.length > seen + 50)
        const number = restarts % count
        assert.equal(await processes[number]?.stop(), 0)
        processes[number] = await start(number)
      }
      await end()
      assert.deepEqual(wrong, [])
      assert.ok(events.length > 20)
      await assertOnceEach('clicks', clicks, before.clicks)
      await assertOnceEach('events', events, before.events)
      await eventually('all is counted', () =>
        assertBooks(fresh.database.reads).then(
          () => true,
          () => false,
        ),
      )
    })
})

describe('sockets of systemd', () => {
  const activate = findProgram('systemd-socket-activate')
  const skip = activate === undefined && 'there is no systemd-socket-activate (Debian: apt-get install systemd)'

  /** A Sluice that systemd-socket-activate starts at the first visitor; its output is collected. */
  async function activated(names: readonly string[], env: Record<string, string> = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-handover-'))
    const ports = await Promise.all(names.map(freePort))
    const own = { PORT: '0', LOG_LEVEL: 'warn', FX_SOURCES: 'off', DATABASE_URL: fresh.url, DATA_DIR: folder }
    const { NODE_COMPILE_CACHE } = process.env
    const settings = { ...own, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }), ...env }
    const set = Object.entries({ ...settings, SECRET: 'the same in all processes' }).map(
      ([name, value]) => `--setenv=${name}=${value}`,
    )
    const listen = ports.map(port => `--listen=127.0.0.1:${port}`)
    const words = [...listen, ...set, `--fdname=${names.join(':')}`, process.execPath, ...START_FLAGS, MAIN_FILE]
    const child = spawn(activate ?? assert.fail(), words, { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
    ends.push(async () => {
      if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    })
    await eventually('systemd listens', () => said.includes('Listening on'))
    const [port = 0, https_port = 0] = ports
    return { port, https_port, said: () => said }
  }

  test('are taken over: the visitor who starts Sluice gets an answer from it', { skip }, async () => {
    const { port, said } = await activated(['plain'])
    const { status } = await ask(port, `/c/${ground.targets[0]?.campaign}`)
    assert.equal(status, 302)
    // Waiting visitors are answered before this line is printed.
    const open = new RegExp(`^Sluice is open at http://localhost:${port}$`, 'm')
    await eventually('it prints that it is open', () => open.test(said()))
  })

  test('are taken over for http and https @detail', { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-handover-'))
    ends.push(() => rmSync(folder, { recursive: true }))
    const authority = await makeAuthority()
    const { chain, key } = await authority.issue({ names: ['main.test'] })
    const files = { TLS_CERT: join(folder, 'chain.pem'), TLS_KEY: join(folder, 'key.pem') }
    writeFileSync(files.TLS_CERT, chain)
    writeFileSync(files.TLS_KEY, key)
    const { port, https_port, said } = await activated(['http', 'https'], {
      TLS: 'files',
      BASE_URL: 'https://main.test',
      ...files,
    })
    const path = `/c/${ground.targets[0]?.campaign}`
    assert.equal((await ask(port, path)).status, 302)
    const tls = { servername: 'main.test', ca: authority.root, headers: { host: 'main.test' } }
    const visit = await readAnswer(secureRequest({ host: '127.0.0.1', port: https_port, path, ...tls }))
    assert.equal(visit.status, 302)
    await eventually('it says that it is open', () => said().includes('Sluice is open at https://main.test\n'))
  })

  test('with other names are not used: one line says so, and Sluice opens its own @detail', { skip }, async () => {
    const { port, said } = await activated(['elsewhere'])
    const waiting = ask(port, '/healthz')
    waiting.catch(() => {})
    await eventually('it is open', () => /^Sluice is open at /m.test(said()))
    const own = Number(/localhost:(\d+)$/m.exec(said())?.[1])
    assert.notEqual(own, port)
    assert.equal((await ask(own, '/healthz')).status, 200)
    assert.equal(said().match(/inherited sockets are not used/g)?.length, 1)
  })
})

test('an inherited socket is not passed on to PostgreSQL, which outlives a killed Sluice @detail', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-handover-'))
  const socket = new BoundSocket({ port: 0, host: '127.0.0.1' })
  let sluice: Sluice | undefined
  ends.push(async () => {
    await sluice?.stop()
    socket.close()
    rmSync(folder, { recursive: true, force: true })
  })
  sluice = await startSluice({ DATA_DIR: folder }, { socket: socket.fd() })
  assert.equal((await ask(socket.address().port, '/healthz')).status, 200)
  const inode = readlinkSync(`/proc/self/fd/${socket.fd()}`)
  const held = (pid: number | undefined) =>
    readdirSync(`/proc/${pid}/fd`).filter(fd => linkOf(`/proc/${pid}/fd/${fd}`) === inode).length
  assert.equal(held(sluice.child.pid), 1)
  assert.equal(held(postmasterOf(folder)), 0)
})

/** The target of a symbolic link; undefined if it is gone, because files of a process come and go. */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
