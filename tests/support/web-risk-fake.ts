// A fake of Google Web Risk's uris.search on loopback, strict by its reference.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export const WEB_RISK_KEY = 'AIzaSyFakeFakeFakeFakeFakeFakeFake_-00'
const THREATS = ['MALWARE', 'SOCIAL_ENGINEERING', 'UNWANTED_SOFTWARE']

export type WebRiskFake = {
  readonly origin: string
  /** The threats it reports, by name. */
  readonly suspected: Map<string, string[]>
  /** The requested names. */
  readonly asked: string[]
  /** Sets the status of every answer from now on; `undefined` restores its own answers. */
  fail(status: number | undefined): void
  close(): Promise<void>
}

export async function startWebRisk(): Promise<WebRiskFake> {
  const suspected = new Map<string, string[]>()
  const asked: string[] = []
  let failing: number | undefined
  const server = createServer((request, answer) => {
    const say = (status: number, body: object) =>
      answer.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body))
    const refused = (status: number, message: string) => say(status, { error: { code: status, message } })
    const url = new URL(request.url ?? '/', 'http://fake')
    if (failing !== undefined) return refused(failing, 'The service is currently unavailable.')
    if (request.method !== 'GET' || url.pathname !== '/v1/uris:search') return refused(404, 'Not Found')
    if (request.headers['x-goog-api-key'] !== WEB_RISK_KEY) return refused(400, 'API key not valid.')
    const types = url.searchParams.getAll('threatTypes')
    const uri = URL.parse(url.searchParams.get('uri') ?? '')
    if (types.length === 0 || !types.every(type => THREATS.includes(type)) || uri === null)
      return refused(400, 'Request contains an invalid argument.')
    asked.push(uri.hostname)
    const found = (suspected.get(uri.hostname) ?? []).filter(threat => types.includes(threat))
    const expireTime = new Date(Date.now() + 300_000).toISOString()
    return say(200, found.length === 0 ? {} : { threat: { threatTypes: found, expireTime } })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    suspected,
    asked,
    fail(status) {
      failing = status
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
