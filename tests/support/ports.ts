// Free ports, for servers that need a fixed port: other programs, and servers that restart.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that the system assigns, so that it does not assign this one meanwhile. */
const [FIRST, LAST] = [20_000, 32_000] as const

/** A loopback port that was free a moment ago. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST)
    const server = createServer()
    const opened = once(server, 'listening').then(
      () => true,
      () => false,
    )
    server.listen(port, '127.0.0.1')
    if (!(await opened)) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
