/** Asks the authority when it wants certificates renewed (RFC 9773). One process asks; all processes use the stored answer. Owns no table. */
import { askAgain, claimQuestions, noteWindow } from './certificates.ts'
import { againAfter } from './authority.ts'
import { type Ordering, problemOf } from './order.ts'
import { timeWithin } from './renewal.ts'

const AT_ONCE = 5

/** Asks about the certificates that are due. A failed question changes nothing and is repeated later. */
export async function askWhenToRenew({ db, log, authority }: Ordering, signal: AbortSignal): Promise<void> {
  const questions = await claimQuestions(db, AT_ONCE)
  await Promise.all(
    questions.map(async question => {
      try {
        const renewal = await authority.renewalInfo(question.chain, signal)
        if (renewal === undefined) return await askAgain(db, question, againAfter(undefined))
        const { window, again_ms, why } = renewal
        await noteWindow(db, question, { ...window, moment: timeWithin(window), again_ms })
        if (why !== undefined)
          log.warn({ name: question.name, why }, 'the authority gives a reason for renewing a certificate')
      } catch (error) {
        // Asked again once the claim has run out. Until then the earlier answer holds.
        log.debug({ name: question.name, problem: problemOf(error) }, 'the authority did not say when to renew')
      }
    }),
  )
}
