// The signed-in person of a soak, who asks Explore, sends broadcasts and connects an ad account.
import { Client } from 'undici'
import type { Child } from '../children.ts'

export type Session = {
  /** A call that must succeed. Resolves with the answer's JSON. */
  call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Record<string, unknown>>
  close(): Promise<void>
}

export function openSession({ port }: Pick<Child, 'port'>, cookie: string): Session {
  const origin = `http://127.0.0.1:${port}`
  const client = new Client(origin, { headersTimeout: 60_000, bodyTimeout: 60_000 })
  return {
    async call(method, path, body) {
      const answer = await client.request({
        method,
        path,
        headers: { cookie, origin, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        body: body === undefined ? null : JSON.stringify(body),
      })
      const text = await answer.body.text()
      if (answer.statusCode >= 300) throw new Error(`${path} answered ${answer.statusCode}: ${text.slice(0, 300)}`)
      return JSON.parse(text) as Record<string, unknown>
    },
    close: () => client.close(),
  }
}
