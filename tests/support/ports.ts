// Ports for servers that must be told where to listen, such as other programs, and ones that come again at the same place.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that systems hand out by themselves, so that nobody is given it before it is taken. */
const [FIRST, LAST] = [20_000, 32_000] as const

/** A port of loopback that was free a moment ago. */
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
