// A house with domains: a fake DNS server decides where names lead, and checks call the house's own port.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { HouseOptions } from '../../src/house.ts'
import { type FakeDns, startDns } from './dns-fake.ts'
import { openTestHouse, startHouse, type TestHouse } from './house.ts'
import { freePort } from './ports.ts'
import { type RawAnswer, askAs } from './raw-http.ts'

/** The address where the house listens, and one where nothing listens. */
export const HERE = '127.0.0.1'
export const NOBODY = '127.0.0.9'
/** The main host. */
export const MAIN_HOST = 'track.test'

export type DomainHouse = TestHouse & {
  readonly dns: FakeDns
  readonly port: number
  /** Sends a request with this Host, whatever DNS says. */
  visit(host: string, path: string, sent?: Parameters<typeof askAs>[3]): Promise<RawAnswer>
  /** A second process on the same database, which does not listen. */
  second(env?: Record<string, string>): Promise<TestHouse>
}

/** Starts it, by default with ROLE=serve, so that names are checked only on demand. */
export async function startDomainHouse(
  env: Record<string, string> = {},
  options: HouseOptions = {},
): Promise<DomainHouse> {
  const dns = await startDns()
  dns.set(MAIN_HOST, { A: [HERE] })
  const [port, closed] = [await freePort(), await freePort()]
  const settings = {
    BASE_URL: `http://${MAIN_HOST}`,
    PORT: String(port),
    DNS_SERVERS: dns.address,
    CHECK_PORTS: `${port},${closed}`,
    TRUST_PROXY: '127.0.0.0/8',
    ROLE: 'serve',
    ...env,
  }
  const house = await startHouse(settings, options)
  await house.listen()
  return {
    ...house,
    dns,
    port,
    visit: (host, path, sent) => askAs(port, host, path, sent),
    second: (more = {}) => openTestHouse(house.database, { ...settings, PORT: '0', ...more }),
    async end() {
      await house.end()
      await dns.close()
    },
  }
}

/** Another server, on another address of this machine. */
export async function startOther(
  address: string,
  port: number,
  answer: RequestListener,
): Promise<{ close(): Promise<void> }> {
  const server = createServer(answer).listen(port, address)
  await once(server, 'listening')
  return {
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
