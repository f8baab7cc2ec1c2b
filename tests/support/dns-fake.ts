// A fake DNS server on loopback, by UDP and TCP. It has the records a test sets, and answers that any other name does not exist. It accepts only
// valid queries (RFC 1035) and follows aliases like a resolver.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

type Zone = {
  A?: string[]
  AAAA?: string[]
  CNAME?: string
  TXT?: string[]
  CAA?: string[]
  /** `servfail`: broken; `silent`: never answered; `truncated`: by UDP only a truncated answer. */
  state?: 'servfail' | 'silent' | 'truncated'
}

export type FakeDns = {
  /** For DNS_SERVERS. */
  readonly address: string
  /** Sets the records of a name; `undefined`: the name does not exist. */
  set(name: string, zone: Zone | undefined): void
  /** Every question so far, as `A go.example.test udp`. */
  readonly asked: readonly string[]
  close(): Promise<void>
}

const TYPES: Readonly<Record<number, keyof Omit<Zone, 'state'>>> = {
  1: 'A',
  5: 'CNAME',
  16: 'TXT',
  28: 'AAAA',
  257: 'CAA',
}
const NUMBERS = { A: 1, CNAME: 5, TXT: 16, AAAA: 28, CAA: 257 } as const
const RCODE = { ok: 0, formerr: 1, servfail: 2, nxdomain: 3 } as const
const TTL = 60

export async function startDns(): Promise<FakeDns> {
  const zones = new Map<string, Zone>()
  const asked: string[] = []
  const udp = createSocket('udp4')
  const tcp = createServer(socket => receive(socket))
  const sockets = new Set<Socket>()
  tcp.listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const { port } = tcp.address() as AddressInfo
  udp.bind(port, '127.0.0.1')
  await once(udp, 'listening')
  udp.on('message', (query, from) => {
    const said = answer(query, 'udp')
    if (said !== undefined) udp.send(said, from.port, from.address)
  })

  function receive(socket: Socket): void {
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => {}))
    let held = Buffer.alloc(0)
    socket.on('data', chunk => {
      held = Buffer.concat([held, chunk])
      while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
        const query = held.subarray(2, 2 + held.readUInt16BE(0))
        held = held.subarray(2 + query.length)
        const said = answer(query, 'tcp')
        if (said !== undefined) socket.write(Buffer.concat([number(said.length), said]))
      }
    })
  }

  function answer(query: Buffer, by: 'udp' | 'tcp'): Buffer | undefined {
    const question = questionOf(query)
    if (question === undefined) return reply(query, undefined, RCODE.formerr, [])
    const { name, type } = question
    asked.push(`${type ?? '?'} ${name} ${by}`)
    const zone = zones.get(name)
    if (zone?.state === 'silent') return undefined
    if (zone?.state === 'servfail') return reply(query, question, RCODE.servfail, [])
    if (zone?.state === 'truncated' && by === 'udp') return reply(query, question, RCODE.ok, [], true)
    // An alias says that a name is there, whatever is asked of it.
    return reply(query, question, zone === undefined ? RCODE.nxdomain : RCODE.ok, recordsFor(zones, name, type))
  }

  return {
    address: `127.0.0.1:${port}`,
    asked,
    set(name, zone) {
      if (zone === undefined) zones.delete(name)
      else zones.set(name, zone)
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      udp.close()
      tcp.close()
      await Promise.all([once(udp, 'close'), once(tcp, 'close')])
    },
  }
}

type Question = { name: string; type: keyof typeof NUMBERS | undefined; end: number }

/** The one question of a query, or undefined for what is none. */
function questionOf(query: Buffer): Question | undefined {
  if (query.length < 17 || (query.readUInt16BE(2) & 0xf800) !== 0 || query.readUInt16BE(4) !== 1) return undefined
  const labels: string[] = []
  let at = 12
  for (let length = query[at]; length !== undefined && length !== 0; length = query[at]) {
    if (length > 63 || at + 1 + length >= query.length) return undefined
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  if (at + 5 > query.length || query.readUInt16BE(at + 3) !== 1) return undefined
  return { name: labels.join('.').toLowerCase(), type: TYPES[query.readUInt16BE(at + 1)], end: at + 5 }
}

type Answered = { name: string; type: keyof typeof NUMBERS; bytes: Buffer }

function recordsFor(zones: ReadonlyMap<string, Zone>, name: string, type: Question['type']): Answered[] {
  const zone = zones.get(name)
  if (zone === undefined || type === undefined) return []
  if (zone.CNAME !== undefined) {
    const alias: Answered = { name, type: 'CNAME', bytes: nameBytes(zone.CNAME) }
    return type === 'CNAME' ? [alias] : [alias, ...recordsFor(zones, zone.CNAME, type)]
  }
  if (type === 'CNAME') return []
  return (zone[type] ?? []).map(value => ({ name, type, bytes: valueBytes(type, value) }))
}

function reply(
  query: Buffer,
  question: Question | undefined,
  rcode: number,
  records: Answered[],
  isCut = false,
): Buffer {
  // Response, recursion desired and available; truncated where there is more.
  const flags = 0x8180 | (isCut ? 0x0200 : 0) | rcode
  const head = [
    query.subarray(0, 2),
    number(flags),
    number(question === undefined ? 0 : 1),
    number(records.length),
    number(0),
    number(0),
  ]
  const asked = question === undefined ? [] : [query.subarray(12, question.end)]
  const said = records.flatMap(({ name, type, bytes }) => [
    nameBytes(name),
    number(NUMBERS[type]),
    number(1),
    number(0),
    number(TTL),
    number(bytes.length),
    bytes,
  ])
  return Buffer.concat([...head, ...asked, ...said])
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)])
const nameBytes = (name: string): Buffer => Buffer.concat([...name.split('.').map(text), Buffer.from([0])])

function valueBytes(type: keyof typeof NUMBERS, value: string): Buffer {
  if (type === 'A') return Buffer.from(value.split('.').map(Number))
  if (type === 'AAAA') return sixBytes(value)
  // A text of over 255 characters is sent in parts.
  if (type === 'TXT') return Buffer.concat((value.match(/.{1,255}/gs) ?? ['']).map(text))
  return Buffer.concat([Buffer.from([0]), text('issue'), Buffer.from(value)])
}

function sixBytes(address: string): Buffer {
  const [before = '', after] = address.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const left = groups(before)
  const right = groups(after ?? '')
  const middle = Array.from({ length: after === undefined ? 0 : 8 - left.length - right.length }, () => '0')
  return Buffer.concat([...left, ...middle, ...right].map(group => number(Number.parseInt(group, 16))))
}
