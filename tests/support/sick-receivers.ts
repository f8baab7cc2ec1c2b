// The ways in which receivers misbehave; each continues until it is closed.
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Begins an answer. Returns a function that says whether the caller is still connected. */
function beginAnswer(response: ServerResponse): () => boolean {
  let isGone = false
  response.once('close', () => (isGone = true))
  response.writeHead(200)
  return () => !isGone
}

export const SICKNESSES: Record<string, (response: ServerResponse) => void | Promise<void>> = {
  hangs: () => {},
  async drips(response) {
    const isOpen = beginAnswer(response)
    while (isOpen()) {
      response.write('.')
      await sleep(200)
    }
  },
  async floods(response) {
    const isOpen = beginAnswer(response)
    const much = Buffer.alloc(256 * 1024, 'x')
    while (isOpen()) {
      if (!response.writableNeedDrain) response.write(much)
      await sleep(1)
    }
  },
  closes: response => void response.destroy(),
  fails: response => void response.writeHead(500).end('no'),
}
