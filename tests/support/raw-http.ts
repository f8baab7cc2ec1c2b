// Raw HTTP requests, with any Host header, two, or none.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

export type RawAnswer = { status: number; headers: Record<string, string[]>; body: string }

/** Sends these lines to a port of this machine and returns the answer. */
export async function sendLines(port: number, lines: readonly string[]): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const [head, body] = split(await text(socket))
  const [first = '', ...rest] = head.split('\r\n')
  const headers: RawAnswer['headers'] = {}
  for (const line of rest) {
    const at = line.indexOf(':')
    const name = line.slice(0, at).toLowerCase()
    headers[name] = [...(headers[name] ?? []), line.slice(at + 1).trim()]
  }
  return { status: Number(first.split(' ')[1]), headers, body }
}

function split(answer: string): [head: string, body: string] {
  const at = answer.indexOf('\r\n\r\n')
  return [answer.slice(0, at), answer.slice(at + 4)]
}

type RawRequest = { method?: string; headers?: Record<string, string>; body?: string }

/** Sends a request with `host` as its Host header. */
export async function askAs(
  port: number,
  host: string,
  path: string,
  { method = 'GET', headers = {}, body }: RawRequest = {},
): Promise<RawAnswer> {
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const given = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...given, ...length]
  return await sendLines(port, body === undefined ? lines : [...lines, '', body])
}
