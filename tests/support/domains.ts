// A house that listens under names: DNS of our own says where they lead, and the ports that checks knock at are the house's.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { HouseOptions } from '../../src/house.ts'
import { type FakeDns, startDns } from './dns-fake.ts'
import { openTestHouse, startHouse, type TestHouse } from './house.ts'
import { freePort } from './ports.ts'
import { type RawAnswer, askAs } from './raw-http.ts'

/** Where the house listens, and where nobody does. */
export const HERE = '127.0.0.1'
export const NOBODY = '127.0.0.9'
/** Its own name. */
export const MAIN = 'track.test'

export type DomainHouse = TestHouse & {
  readonly dns: FakeDns
  readonly port: number
  /** Asks by a name, whatever DNS says of it. */
  visit(host: string, path: string, sent?: Parameters<typeof askAs>[3]): Promise<RawAnswer>
  /** Another process on the same database, behind the same door: it listens to nobody. */
  second(env?: Record<string, string>): Promise<TestHouse>
}

/** Starts it. ROLE=serve unless told otherwise, so that nothing is checked but when a test asks. */
export async function startDomainHouse(
  env: Record<string, string> = {},
  options: HouseOptions = {},
): Promise<DomainHouse> {
  const dns = await startDns()
  dns.set(MAIN, { A: [HERE] })
  const [port, closed] = [await freePort(), await freePort()]
  const settings = {
    BASE_URL: `http://${MAIN}`,
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

/** Another server, on the same port of another address of this machine. */
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
