// Sluice with TLS=auto on its own ports, for visitors and certificate authorities; every name leads to this machine.
import { once } from 'node:events'
import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect, type TLSSocket } from 'node:tls'
import type { Logger } from 'pino'
import { type Selectable, sql } from 'kysely'
import type { Database } from '../../src/ground/db/connect.ts'
import type { Tables } from '../../src/ground/db/tables.ts'
import { type AcmeStub, startAcmeStub } from './acme-stub.ts'
import { eventually } from './eventually.ts'
import { openTestHouse, startHouse, type TestHouse } from './house.ts'

export type HttpAnswer = { status: number; headers: IncomingMessage['headers']; body: string }

export type StreetHouse = TestHouse & {
  readonly http_port: number
  readonly https_port: number
  /** Resolves when a handshake for the name gets a certificate other than `serial`; returns its serial. */
  certified(name: string, serial?: string): Promise<string>
  /** Resolves when an order for the name has failed `times` times; returns its row. */
  failed(name: string, times?: number): Promise<CertificateRow>
  /** The row of a name. */
  row(name: string): Promise<CertificateRow>
  /** An HTTP request with a name. */
  plain(name: string, path: string, method?: string, headers?: Record<string, string>): Promise<HttpAnswer>
  /** An HTTPS request with a name, with any certificate. */
  secure(name: string, path: string, headers?: Record<string, string>): Promise<HttpAnswer>
}

type CertificateRow = Selectable<Tables['certificates']>

const SETTINGS = {
  TLS: 'auto',
  BASE_URL: 'https://main.test',
  HTTP_PORT: '0',
  HTTPS_PORT: '0',
  TLS_HOST: '127.0.0.1',
}

/** Opens it on a fresh database, or on an existing one. It listens. */
export async function openStreetHouse(
  env: Record<string, string>,
  database?: Database,
  log?: Logger,
): Promise<StreetHouse> {
  const settings = { ...SETTINGS, ...env }
  const house =
    database === undefined ? await startHouse(settings, {}, log) : await openTestHouse(database, settings, {}, log)
  await house.listen()
  const portOf = (server: { address(): unknown } | undefined) =>
    (server?.address() as AddressInfo | undefined)?.port ?? 0
  const ports = { http_port: portOf(house.publicServers?.http), https_port: portOf(house.publicServers?.https) }
  return { ...house, ...ports, ...requestsTo(ports), ...certificateWaits(house.database, ports.https_port) }
}

function requestsTo({ http_port, https_port }: Pick<StreetHouse, 'http_port' | 'https_port'>) {
  const shared = { host: '127.0.0.1', agent: false } as const
  return {
    plain: (name: string, path: string, method = 'GET', headers: Record<string, string> = {}) =>
      readAnswer(plainRequest({ ...shared, port: http_port, path, method, headers: { host: name, ...headers } })),
    secure: (name: string, path: string, headers: Record<string, string> = {}) => {
      const tls = { port: https_port, servername: name, rejectUnauthorized: false }
      return readAnswer(secureRequest({ ...shared, ...tls, path, headers: { host: name, ...headers } }))
    },
  }
}

function certificateWaits({ kysely: db }: Database, https_port: number) {
  const find = async (name: string) => {
    const { rows } = await sql<CertificateRow>`select * from certificates where name = ${name}`.execute(db)
    return rows[0]
  }
  const row = async (name: string) => {
    const found = await find(name)
    if (found === undefined) throw new Error(`${name} has no row`)
    return found
  }
  return {
    row,
    async failed(name: string, times = 1) {
      await eventually(`${name} has failed`, async () => (await find(name))?.attempts === times)
      return row(name)
    },
    async certified(name: string, serial?: string) {
      let found = ''
      await eventually(`${name} has a certificate`, async () => {
        found = await shake(https_port, { name }).then(
          given => given.serial,
          () => '',
        )
        return found !== '' && found !== serial
      })
      return found
    },
  }
}

/** A certificate authority that validates names at the house, and the house; `end` closes both. */
export async function openCertified(
  env: Record<string, string> = {},
  change: (stub: AcmeStub) => unknown = () => {},
  database?: Database,
): Promise<{ stub: AcmeStub; house: StreetHouse; end: () => Promise<void> }> {
  let port = 0
  const stub = await startAcmeStub(() => port)
  await change(stub)
  const house = await openStreetHouse({ ACME_DIRECTORY: stub.directory, ...env }, database)
  port = house.http_port
  return {
    stub,
    house,
    async end() {
      await house.end()
      await stub.close()
    },
  }
}

/** Ends a request, with `body` as JSON if given, and reads its answer. */
export async function readAnswer(sent: ReturnType<typeof plainRequest>, body?: object): Promise<HttpAnswer> {
  const response = once(sent, 'response') as Promise<[IncomingMessage]>
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [answer] = await response
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) }
}

export type Handshake = {
  serial: string
  trusted: boolean
  reused: boolean
  certificates: number
  session: Buffer | undefined
}
type HandshakeOptions = { name?: string; root?: string; session?: Buffer; wantsSession?: boolean }

/** A handshake with a server of this machine. Rejects with the alert or the connection's error. */
export async function shake(port: number, { name, root, session, wantsSession }: HandshakeOptions): Promise<Handshake> {
  const socket: TLSSocket = connect({
    host: '127.0.0.1',
    port,
    ...(name === undefined ? {} : { servername: name }),
    ...(root === undefined ? {} : { ca: root }),
    ...(session === undefined ? {} : { session }),
    rejectUnauthorized: false,
  })
  try {
    // With TLS 1.3 the session follows the handshake.
    const sent = wantsSession ? once(socket, 'session') : undefined
    await once(socket, 'secureConnect')
    const own = socket.getPeerX509Certificate()
    let certificates = 0
    for (let at = own; at !== undefined; at = at.issuerCertificate) certificates += 1
    const [given] = (await sent) ?? [undefined]
    return {
      serial: own?.serialNumber ?? '',
      trusted: socket.authorized,
      reused: socket.isSessionReused(),
      certificates,
      session: given as Buffer | undefined,
    }
  } finally {
    socket.destroy()
  }
}
