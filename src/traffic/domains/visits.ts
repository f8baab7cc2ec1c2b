/** Requests about names from programs: the probe of Sluice's own checks, and a proxy that wants to order a certificate. */
import { isLoopbackAddress } from '../../ground/network.ts'
import type { Answer, Ground, Visit } from '../../ground/room.ts'
import { isForwarded, trusting } from '../../ground/trusted.ts'
import type { LiveDomains } from './live.ts'
import { mainNames, nameOfHost } from './name.ts'
import { NONCE, probeAnswer } from './probe.ts'

const PLAIN = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
const NO: Answer = { status: 404, headers: PLAIN, body: 'not found\n' }
const YES: Answer = { status: 200, headers: PLAIN, body: 'ok\n' }

/** Answers a probe with the name of the request and the proof that it arrived here. */
export function answerProbe({ secrets }: Ground, { params, headers }: Visit): Answer {
  const nonce = params['nonce'] ?? ''
  if (!NONCE.test(nonce)) return NO
  const { host } = headers
  return {
    status: 200,
    headers: PLAIN,
    body: probeAnswer(secrets, nonce, nameOfHost(typeof host === 'string' ? host : '')),
  }
}

/** The deed of `GET /tls-ask`: answers from memory, and only local or trusted callers. */
export function tlsAsked(live: Pick<LiveDomains, 'find'>) {
  let isTrusted: ((peer: string) => boolean) | undefined
  return ({ config }: Ground, { peer, headers, url }: Visit): Answer => {
    isTrusted ??= trusting(config.trustProxy)
    if (isForwarded(headers) || !(isLoopbackAddress(peer) || isTrusted(peer))) return NO
    const at = url.indexOf('?')
    const name = nameOfHost(new URLSearchParams(at < 0 ? '' : url.slice(at + 1)).get('domain') ?? '')
    return mainNames(config).includes(name) || live.find(name) !== undefined ? YES : NO
  }
}
