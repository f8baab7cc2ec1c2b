// The cost of HTTPS for the redirect: the same server by HTTP, by HTTPS over kept connections, and by HTTPS with a handshake for each
// click, as with new visitors. The load makes its side of every handshake, on another processor if there is one.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { makeAuthority } from '../tests/support/certificates.ts'
import type { startLoad } from './children.ts'
import { ms, perSecond } from './clicks.ts'
import type { BenchGround } from './ground.ts'
import type { Job, Measured } from './load.ts'
import type { Organization } from './organizations.ts'
import type { Plan } from './plan.ts'
import { median } from './ratio.ts'

const NAME = 'bench.test'
const CONNECTIONS = 64

type Way = 'http' | 'kept' | 'fresh'

/** Lines below the redirect. They have no budget, because they depend only on the machine's processor. */
export async function measureHttps(
  load: Awaited<ReturnType<typeof startLoad>>,
  ground: BenchGround,
  { campaignKeys }: Organization,
  { rounds, seconds, warmSeconds }: Plan,
): Promise<string[]> {
  const { chain, key } = await (await makeAuthority()).issue({ names: [NAME] })
  const [TLS_CERT, TLS_KEY] = [join(ground.dataDir, 'bench-chain.pem'), join(ground.dataDir, 'bench-key.pem')]
  writeFileSync(TLS_CERT, chain)
  writeFileSync(TLS_KEY, key, { mode: 0o600 })
  const [https_port, http_port] = [await freePort(), await freePort()]
  const ports = { HTTPS_PORT: String(https_port), HTTP_PORT: String(http_port), TLS_HOST: '127.0.0.1' }
  const server = await ground.serve('all', { TLS: 'files', TLS_CERT, TLS_KEY, BASE_URL: `https://${NAME}`, ...ports })
  const asked = async (way: Way, duration: number): Promise<Measured> => {
    const job: Job = {
      port: way === 'http' ? http_port : https_port,
      connections: CONNECTIONS,
      seconds: duration,
      recipe: { kind: 'redirects', campaignKeys },
      ...(way === 'http' ? {} : { tls: { name: NAME, connections: way } }),
    }
    const measured = await load.ask(job)
    if (measured.statuses[302] !== measured.answered)
      throw new Error(`not every click by ${way} was redirected: ${JSON.stringify(measured.statuses)}`)
    return measured
  }
  try {
    const ways: Way[] = ['http', 'kept', 'fresh']
    const measured: Record<Way, Measured[]> = { http: [], kept: [], fresh: [] }
    for (const way of ways) await asked(way, warmSeconds)
    // A third of the rounds is enough for lines without a budget.
    for (let round = 0; round < rounds / 3; round += 1)
      for (const way of ways) measured[way].push(await asked(way, seconds))
    const rate = (way: Way) => median(measured[way].map(({ per_second }) => per_second))
    const share = (way: Way) => (rate(way) / rate('http')).toFixed(2)
    const p50 = median(measured.fresh.map(one => one.p50))
    return [
      `HTTPS over kept connections ${perSecond(rate('kept'))}, ${share('kept')} of ${perSecond(rate('http'))} HTTP of that server`,
      `HTTPS with a handshake for each click ${perSecond(rate('fresh'))}, ${share('fresh')} of it; p50 ${ms(p50)} with the handshake`,
    ]
  } finally {
    await server.stop()
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}
