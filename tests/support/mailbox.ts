// A mail server on loopback that stores the mails it receives.
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

/** As long as other waits in tests, because a loaded machine is slow. */
const PATIENCE_MS = 60_000

type Received = { from: string; to: string[]; text: string }

export type Mailbox = {
  /** For SMTP_URL. */
  readonly url: string
  /** All mails so far, in the order of arrival. */
  readonly mails: readonly Received[]
  /** Waits for the next mail to `address` that was not returned before. */
  next(address: string): Promise<Received>
  close(): Promise<void>
}

/** Starts the server. With `refuse` it rejects every recipient. */
export async function openMailbox({ refuse = false } = {}): Promise<Mailbox> {
  const mails: Received[] = []
  const taken = new Set<Received>()
  const waiting = new Set<() => void>()
  const store = (mail: Received) => {
    mails.push(mail)
    for (const wake of waiting) wake()
  }
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => {}))
    converse(socket, refuse, store)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}?from=sluice%40example.com`,
    mails,
    async next(address) {
      for (;;) {
        const mail = mails.find(one => !taken.has(one) && one.to.includes(address))
        if (mail !== undefined) {
          taken.add(mail)
          return mail
        }
        await new Promise<void>((resolve, reject) => {
          const overdue = setTimeout(() => reject(new Error(`no mail to ${address} came`)), PATIENCE_MS)
          const wake = () => {
            clearTimeout(overdue)
            waiting.delete(wake)
            resolve()
          }
          waiting.add(wake)
        })
      }
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function converse(socket: Socket, refuse: boolean, store: (mail: Received) => void): void {
  const say = (line: string) => void socket.write(`${line}\r\n`)
  const addressIn = (line: string) => /<(.*?)>/.exec(line)?.[1] ?? ''
  let mail: Received = { from: '', to: [], text: '' }
  let isText = false
  say('220 mailbox')
  createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY }).on('line', line => {
    if (isText) {
      if (line !== '.') {
        mail.text += `${line}\n`
        return
      }
      isText = false
      store(mail)
      mail = { from: '', to: [], text: '' }
      return say('250 kept')
    }
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'MAIL') mail.from = addressIn(line)
    if (verb === 'RCPT' && !refuse) mail.to.push(addressIn(line))
    if (verb === 'DATA') isText = true
    say(verb === 'DATA' ? '354 go on' : verb === 'RCPT' && refuse ? '550 no such mailbox' : '250 ok')
    if (verb === 'QUIT') socket.end()
  })
}
