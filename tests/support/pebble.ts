// Pebble, the test authority of Let's Encrypt, strict and refusing some nonces, with a DNS server in which every name leads to
// this machine.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { IncomingMessage } from 'node:http'
import { makeAuthority, type TestAuthority } from './certificates.ts'
import { eventually } from './eventually.ts'
import { freePort } from './ports.ts'
import { findProgram } from './programs.ts'

export type Pebble = {
  readonly directory: string
  /** Its DNS server, for DNS_SERVERS. */
  readonly dns: string
  /** The file for NODE_EXTRA_CA_CERTS of processes that call it. */
  readonly trusted: string
  /** The root of its certificates. */
  root(): Promise<string>
  /** Its output so far. */
  output(): string
  close(): Promise<void>
}

type Options = {
  readonly http_port: number
  /** Of the certificates it issues. */
  readonly lifetime_s?: number
  /** The external account that every account must be bound to: its id, and its key in base64url. */
  readonly bound?: { readonly id: string; readonly key: string }
}

/** The reason to skip the test, or false. */
export const withoutPebble: string | false =
  findProgram('pebble') === undefined && 'pebble is not installed: apt-get install pebble (Debian 12 and later)'

export async function startPebble(options: Options): Promise<Pebble> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pebble-'))
  const own = await makeAuthority()
  const ports = { own: await freePort(), management: await freePort(), dns: await freePort() }
  const names = await startNames(ports.dns)
  await writeSettings(folder, own, ports, options)
  const env = { PATH: process.env['PATH'], PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '20' }
  const flags = ['-strict', '-config', join(folder, 'pebble.json'), '-dnsserver', `127.0.0.1:${ports.dns}`]
  const server = spawn('pebble', flags, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [server.stdout, server.stderr]) stream.on('data', chunk => (output += String(chunk)))
  const ask = async (port: number, path: string) => {
    const sent = get({ host: '127.0.0.1', port, path, ca: own.root })
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    return await text(answer)
  }
  await eventually('pebble answers', async () => {
    if (server.exitCode !== null) throw new Error(`pebble ended: ${output}`)
    return await ask(ports.own, '/dir').then(Boolean, () => false)
  })
  return {
    directory: `https://localhost:${ports.own}/dir`,
    dns: `127.0.0.1:${ports.dns}`,
    trusted: join(folder, 'root.pem'),
    root: () => ask(ports.management, '/roots/0'),
    output: () => output,
    async close() {
      await Promise.all([server, names].map(ended))
      rmSync(folder, { recursive: true })
    },
  }
}

/** Every name has the address 127.0.0.1, and none in IPv6. */
async function startNames(port: number): Promise<ChildProcess> {
  const answers = ['-defaultIPv4', '127.0.0.1', '-defaultIPv6', '', '-dns01', `127.0.0.1:${port}`]
  const off = ['-http01', '', '-https01', '', '-tlsalpn01', '', '-management', `127.0.0.1:${await freePort()}`]
  return spawn('pebble-challtestsrv', [...answers, ...off], { stdio: 'ignore' })
}

async function writeSettings(
  folder: string,
  own: TestAuthority,
  ports: { own: number; management: number },
  { http_port, lifetime_s = 90 * 24 * 3600, bound }: Options,
): Promise<void> {
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const { chain, key } = await own.issue({ names: ['localhost', '127.0.0.1'] })
  file('root.pem', own.root)
  const pebble = {
    listenAddress: `127.0.0.1:${ports.own}`,
    managementListenAddress: `127.0.0.1:${ports.management}`,
    certificate: file('chain.pem', chain),
    privateKey: file('key.pem', key),
    httpPort: http_port,
    tlsPort: 1,
    certificateValidityPeriod: lifetime_s,
    ...(bound === undefined
      ? {}
      : { externalAccountBindingRequired: true, externalAccountMACKeys: { [bound.id]: bound.key } }),
  }
  file('pebble.json', JSON.stringify({ pebble }))
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
