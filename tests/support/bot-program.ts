// The owner's program behind a bot: the updates it got, and its answers.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type BotProgram = {
  /** For relay_url, with a query that must stay secret. */
  readonly url: string
  readonly updates: { bytes: Buffer; secret: string | undefined }[]
  /** The ids of the updates, in the order of arrival. */
  numbers(): number[]
  /** Answers "ok" by default. */
  answer: (bytes: Buffer, response: ServerResponse) => void
  close(): Promise<void>
}

export async function startBotProgram(): Promise<BotProgram> {
  const updates: BotProgram['updates'] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const bytes = Buffer.concat(chunks)
      const secret = request.headers['x-telegram-bot-api-secret-token']
      updates.push({ bytes, secret: typeof secret === 'string' ? secret : undefined })
      program.answer(bytes, response)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const program: BotProgram = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tg/hook?x=1`,
    updates,
    numbers: () => updates.map(({ bytes }) => (JSON.parse(bytes.toString()) as { update_id: number }).update_id),
    answer: (_, response) => void response.end('ok'),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return program
}
