/** One order, from the claim of its row to a certificate in service, or to the next try. Owns no table. */
import type { Ground } from '../../ground/room.ts'
import { Refused } from './acme-library.ts'
import { type Authority, newKey } from './authority.ts'
import { type Claimed, giveBack, holdAccount, noteFailure, putInService } from './certificates.ts'
import { requireIssued, WrongChain } from './chain.ts'
import { closeChallenges, openChallenge } from './challenges.ts'
import { orders } from './figures.ts'
import { momentOf, pauseAfter } from './renewal.ts'

/** All of an order, in which authorities look at the name from several places. Shorter than a lease. */
const ORDER_MS = 5 * 60_000
/** Where the authority refuses everybody and does not say for how long. */
const HOLD_MS = 60 * 60_000

export type Ordering = Pick<Ground, 'db' | 'config' | 'log' | 'secrets'> & {
  readonly authority: Authority
  /** A certificate was put in service. */
  readonly onServed: (name: string) => Promise<void>
}

/** Orders for a claimed row; throws nothing but what the database throws. What closes the process gives the row back. */
export async function orderFor(ordering: Ordering, claimed: Claimed, closing: AbortSignal): Promise<void> {
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
    if (closing.aborted) return await giveBack(db, claimed)
    await fail(ordering, claimed, error)
  } finally {
    await closeChallenges(db, tokens).catch(() => {})
  }
}

async function issueFor(
  { db, secrets, authority, config }: Ordering,
  claimed: Claimed,
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
  const issued = { ...leaf, chain, sealed_key: secrets.seal(key), renew_at: momentOf(leaf), asks }
  return putInService(db, claimed, config.acmeDirectory, issued)
}

async function fail({ db, log, config }: Ordering, claimed: Claimed, error: unknown): Promise<void> {
  const { name, attempts } = claimed
  const problem = wordsOf(error)
  const isLimit = error instanceof Refused && (error.type === 'rateLimited' || error.retry_ms !== undefined)
  const asked_ms = isLimit ? (error.retry_ms ?? HOLD_MS) : 0
  orders.inc({ result: isLimit ? 'limited' : 'failed' })
  log.warn({ name, problem, attempts: attempts + 1 }, 'a certificate could not be had; it is tried again')
  if (isLimit && isOfAccount(error, name)) await holdAccount(db, config.acmeDirectory, problem, asked_ms)
  await noteFailure(db, claimed, problem, Math.max(pauseAfter(attempts + 1), asked_ms))
}

/** Authorities limit an account, or what is ordered for one name or the domain it stands in, which they then name. */
function isOfAccount({ message }: Refused, name: string): boolean {
  const labels = name.split('.')
  const names = labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'))
  return !names.some(one => message.toLowerCase().includes(one))
}

/** What went wrong, for whoever can mend it. */
export function wordsOf(error: unknown): string {
  if (error instanceof Refused) return `the authority says: ${error.message}`
  if (error instanceof WrongChain) return `what the authority sent cannot be served: ${error.message}`
  if (error instanceof Error && error.name === 'TimeoutError') return 'the authority did not come to an end in time'
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : ''
  return `the authority could not be asked${code}`
}
