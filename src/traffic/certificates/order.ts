/** One order, from its claimed row to a certificate in service or to the time of the next try. Owns no table. */
import { HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import type { Ground } from '../../ground/room.ts'
import { AuthorityRefusal } from './acme-library.ts'
import { type Authority, newKey } from './authority.ts'
import { type ClaimedCertificate, releaseCertificate, holdAccount, noteFailure, putInService } from './certificates.ts'
import { requireIssued, WrongChain } from './chain.ts'
import { closeChallenges, openChallenge } from './challenges.ts'
import { orders } from './figures.ts'
import { pauseAfter, renewalTimeOf } from './renewal.ts'

/** The time limit of an order. Authorities look at a name from several locations. Shorter than the lease. */
const ORDER_MS = 5 * MINUTE_MS
/** How long the account is on hold if the authority refuses all orders and does not say for how long. */
const HOLD_MS = HOUR_MS

export type Ordering = Pick<Ground, 'db' | 'config' | 'log' | 'secrets'> & {
  readonly authority: Authority
  /** Called when a certificate was put in service. */
  readonly onServed: (name: string) => Promise<void>
}

/** Orders a certificate for a claimed row. If `closing` aborts the order, the lease is released. @throws only the database's errors */
export async function orderFor(ordering: Ordering, claimed: ClaimedCertificate, closing: AbortSignal): Promise<void> {
  const { db, log } = ordering
  const { name } = claimed
  const tokens: string[] = []
  try {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(ORDER_MS)])
    const isServed = await issueFor(ordering, claimed, signal, tokens)
    orders.inc({ result: isServed ? 'issued' : 'overtaken' })
    if (!isServed) return
    log.info({ name }, 'a certificate was put in service')
    await ordering.onServed(name).catch(() => {})
  } catch (error) {
    if (closing.aborted) return await releaseCertificate(db, claimed)
    await fail(ordering, claimed, error)
  } finally {
    await closeChallenges(db, tokens).catch(() => {})
  }
}

async function issueFor(
  { db, secrets, authority, config }: Ordering,
  claimed: ClaimedCertificate,
  signal: AbortSignal,
  tokens: string[],
): Promise<boolean> {
  const { name, chain: replaced, directory } = claimed
  const key = newKey()
  const open = async (challenge: { token: string; key_authorization: string }) => {
    tokens.push(challenge.token)
    await openChallenge(db, { ...challenge, name })
  }
  const replaces = directory === config.acmeDirectory && replaced !== null ? replaced : undefined
  const chain = await authority.issue({ name, key, replaces, open }, signal)
  const leaf = requireIssued(chain, key, name, Date.now())
  const asks = await authority.hasRenewalInfo(signal)
  const issued = { ...leaf, chain, sealed_key: secrets.seal(key), renew_at: renewalTimeOf(leaf), asks }
  return putInService(db, claimed, config.acmeDirectory, issued)
}

async function fail({ db, log, config }: Ordering, claimed: ClaimedCertificate, error: unknown): Promise<void> {
  const { name, attempts } = claimed
  const problem = problemOf(error)
  const isLimit = error instanceof AuthorityRefusal && (error.type === 'rateLimited' || error.retry_ms !== undefined)
  const asked_ms = isLimit ? (error.retry_ms ?? HOLD_MS) : 0
  orders.inc({ result: isLimit ? 'limited' : 'failed' })
  log.warn({ name, problem, attempts: attempts + 1 }, 'could not get a certificate; retrying later')
  if (isLimit && isOfAccount(error, name)) await holdAccount(db, config.acmeDirectory, problem, asked_ms)
  await noteFailure(db, claimed, problem, Math.max(pauseAfter(attempts + 1), asked_ms))
}

/** Whether a limit applies to the whole account. If it applies to a name or its domain, the authority's message contains that name. */
function isOfAccount({ message }: AuthorityRefusal, name: string): boolean {
  const labels = name.split('.')
  const names = labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'))
  return !names.some(one => message.toLowerCase().includes(one))
}

/** The cause of a failed order, for the person who can fix it. */
export function problemOf(error: unknown): string {
  if (error instanceof AuthorityRefusal) return `the authority says: ${error.message}`
  if (error instanceof WrongChain) return `the certificate from the authority cannot be served: ${error.message}`
  if (error instanceof Error && error.name === 'TimeoutError') return 'the authority did not finish in time'
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : ''
  return `the authority could not be reached${code}`
}
