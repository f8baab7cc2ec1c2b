// Server-side request forgery: no address of a rule reaches the internal network. The canaries listen on internal addresses and count connections, not
// requests.
import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import test, { after } from 'node:test'
import { startReceiver } from '../../tests/support/receiver.ts'
import { faultOfAddress } from '../contract/address.ts'
import { type CallOutcome, sendCall } from '../outgoing/deliveries/send.ts'
import { guardedAgent, isPrivateHost, isPublicAddress } from './guard.ts'

const hits: string[] = []
const canaries: Server[] = []

async function startCanary(host: string, port = 0): Promise<number> {
  const server = createServer(socket => {
    hits.push(`${host} was reached from ${socket.remoteAddress}`)
    socket.destroy()
  })
  server.listen(port, host)
  await once(server, 'listening')
  canaries.push(server)
  return (server.address() as AddressInfo).port
}

// One port on every address, so that each form of each address would reach a canary if it reached anything.
const PORT = await startCanary('127.0.0.1')
const own = Object.values(networkInterfaces()).flatMap(list => list ?? [])
for (const host of [
  '::1',
  ...own.filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address),
])
  await startCanary(host, PORT).catch(() => {})
const hostAddress = own.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '10.0.0.1'

const agent = guardedAgent({ allowPrivate: false, connections: 4 })
after(async () => {
  await agent.close()
  for (const server of canaries) server.close()
})

const DEADLINES = { headers_ms: 10_000, total_ms: 10_000 }
const call = (url: string, through = agent): Promise<CallOutcome> =>
  sendCall(through, { method: 'GET', url }, { deadlines: DEADLINES })

const inside = (host: string) => `http://${host}:${PORT}/`

/** Internal addresses in every form that a URL parser or a resolver understands. */
const LITERALS = `
  127.0.0.1 127.1 127.0.1 127.255.255.254 0.0.0.0 0 2130706433 0x7f000001 0x7f.1 0x7f.0x0.0x0.0x1 017700000001 0177.0.0.1 0177.1
  127.0.0.1. 127.0.0.01 %31%32%37.0.0.1 １２７.０.０.１ ①②⑦.⓪.⓪.① 127。0。0。1
  [::1] [0:0:0:0:0:0:0:1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:7f00:0001] [::7f00:1] [::127.0.0.1]
  [64:ff9b::7f00:1] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2001:0:7f00:1::] [fe80::1] [fec0::1] [fc00::1] [fd00:ec2::254] [ff02::1]
  169.254.169.254 [::ffff:169.254.169.254] [::ffff:a9fe:a9fe] 0xa9fea9fe 2852039166 100.100.100.200 192.0.0.192 168.63.129.16
  10.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1 100.64.0.1 198.18.0.1 192.0.2.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255
  [2001:db8::1] [5f00::1] [100::1] ${hostAddress} [::ffff:${hostAddress}]`
  .trim()
  .split(/\s+/)

test('no internal address is connected to, in any form', async () => {
  for (const host of LITERALS) {
    const { status, error } = await call(inside(host))
    assert.equal(status, null, host)
    assert.match(String(error), /is not a public address|Invalid URL/, host)
  }
  assert.ok(LITERALS.length >= 50)
  assert.deepEqual(hits, [])
})

test('names of this machine are refused', async () => {
  for (const host of ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'ip6-localhost']) {
    const { status } = await call(inside(host))
    assert.equal(status, null, host)
  }
  assert.deepEqual(hits, [])
})

type Answers = Record<string, LookupAddress[][]>

/** A guarded agent whose names resolve to one list of addresses after another. */
function agentResolving(answers: Answers) {
  const asked = new Map<string, number>()
  return guardedAgent({
    allowPrivate: false,
    connections: 4,
    resolve: (hostname, _options, callback) => {
      const times = asked.get(hostname) ?? 0
      asked.set(hostname, times + 1)
      const lists = answers[hostname] ?? []
      callback(null, lists[Math.min(times, lists.length - 1)] ?? [])
    },
  })
}

const v4 = (address: string): LookupAddress => ({ address, family: 4 })
const v6 = (address: string): LookupAddress => ({ address, family: 6 })

test('a name that resolves to an internal address is refused, even if only one of its addresses is internal, or only the second time', async () => {
  const through = agentResolving({
    'inside.example': [[v4('127.0.0.1')]],
    'inside6.example': [[v6('::1')]],
    'mapped.example': [[v6('::ffff:7f00:1')]],
    'metadata.example': [[v4('169.254.169.254')]],
    'host.example': [[v4(hostAddress)]],
    'mixed.example': [[v4('93.184.215.14'), v4('127.0.0.1')]],
    'mixed6.example': [[v6('::1'), v4('93.184.215.14')]],
    'rebinds.example': [[v4('192.0.2.1')], [v4('127.0.0.1')]],
    'nowhere.example': [[]],
  })
  for (const name of [
    'inside',
    'inside6',
    'mapped',
    'metadata',
    'host',
    'mixed',
    'mixed6',
    'rebinds',
    'rebinds',
    'nowhere',
  ]) {
    const { status, error } = await call(inside(`${name}.example`), through)
    assert.equal(status, null, name)
    assert.match(String(error), /is not a public address|has no address/, name)
  }
  await through.close()
  assert.deepEqual(hits, [])
})

test('user info, other schemes, line breaks and backslashes reach no internal address', async () => {
  const urls = [
    inside('93.184.215.14@127.0.0.1'),
    inside('example.com:80@127.0.0.1'),
    inside('127.0.0.1#@example.com'),
    inside('127.0.0.1?@example.com'),
    `http:\\\\127.0.0.1:${PORT}\\`,
    `http:/\\127.0.0.1:${PORT}/`,
    `http:127.0.0.1:${PORT}`,
    `//127.0.0.1:${PORT}/`,
    `http://127.0.0.1\t:${PORT}/`,
    `http://127.0.\r\n0.1:${PORT}/`,
    `http://[fe80::1%25lo]:${PORT}/`,
    `ftp://127.0.0.1:${PORT}/`,
    `file:///etc/passwd`,
    `data:text/plain,x`,
    `gopher://127.0.0.1:${PORT}/_`,
    `http://localhost%00.example.com:${PORT}/`,
  ]
  for (const url of urls) {
    const { status } = await call(url)
    assert.equal(status, null, url)
  }
  assert.deepEqual(hits, [])
})

test('rules refuse addresses whose host a visitor could choose, or that hide it', () => {
  for (const url of [
    'http://{sub1}/',
    'http://{sub1}.example.com/',
    'http://example.com:{sub1}/',
    'http://a@127.0.0.1/',
    'http://example.com@127.0.0.1/',
    'http://exam ple.com/',
    'http://127.0.0.1\\@example.com/',
    'http://example.com\r\nHost:127.0.0.1/',
    'javascript:alert(1)',
    'file:///etc/passwd',
  ])
    assert.ok(faultOfAddress(url), url)
})

test('a proxy of the environment is not used', async () => {
  process.env['HTTP_PROXY'] = `http://127.0.0.1:${PORT}`
  process.env['http_proxy'] = `http://127.0.0.1:${PORT}`
  const through = agentResolving({ 'nobody.example': [[v4('192.0.2.1')]] })
  const { status } = await call('http://nobody.example/', through)
  delete process.env['HTTP_PROXY']
  delete process.env['http_proxy']
  await through.close()
  assert.equal(status, null)
  assert.deepEqual(hits, [])
})

test('no kind of redirect to an internal address is followed', async () => {
  for (const code of [301, 302, 303, 307, 308]) {
    const redirects = await startReceiver(
      (_, response) => void response.writeHead(code, { location: inside('127.0.0.1') }).end(),
    )
    const open = guardedAgent({ allowPrivate: true, connections: 4 })
    assert.equal((await call(redirects.origin, open)).status, code)
    await open.close()
    await redirects.close()
  }
  assert.deepEqual(hits, [])
})

test('public addresses are public', () => {
  for (const address of ['93.184.215.14', '8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])
    assert.ok(isPublicAddress(address), address)
  for (const host of ['example.com', 'localhost.example.com', '8.8.8.8', '[2606:4700:4700::1111]'])
    assert.ok(!isPrivateHost(host), host)
  for (const host of [
    'localhost',
    'a.localhost',
    'printer.local',
    'db.internal',
    '127.0.0.1',
    '[::1]',
    '[::ffff:7f00:1]',
  ])
    assert.ok(isPrivateHost(host), host)
})
