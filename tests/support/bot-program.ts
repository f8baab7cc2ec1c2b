// The owner's program behind a bot: what it was told, and what it answers.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type BotProgram = {
  /** For relay_url, with something in it that nobody is to see. */
  readonly url: string
  readonly told: { bytes: Buffer; secret: string | undefined }[]
  /** The numbers of the updates, as they came. */
  numbers(): number[]
  /** Answers "ok" unless told otherwise. */
  answer: (bytes: Buffer, response: ServerResponse) => void
  close(): Promise<void>
}

export async function startBotProgram(): Promise<BotProgram> {
  const told: BotProgram['told'] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const bytes = Buffer.concat(chunks)
      const secret = request.headers['x-telegram-bot-api-secret-token']
      told.push({ bytes, secret: typeof secret === 'string' ? secret : undefined })
      program.answer(bytes, response)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const program: BotProgram = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tg/hook?x=1`,
    told,
    numbers: () => told.map(({ bytes }) => (JSON.parse(bytes.toString()) as { update_id: number }).update_id),
    answer: (_, response) => void response.end('ok'),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return program
}
