/** Asks the authority when it wants certificates renewed (RFC 9773). One process asks, the others read the answer. Owns no table. */
import { askAgain, claimQuestions, noteWindow } from './certificates.ts'
import { againAfter } from './authority.ts'
import { type Ordering, wordsOf } from './order.ts'
import { momentIn } from './renewal.ts'

const AT_ONCE = 5

/** Asks what is due. What the authority does not answer changes nothing; it is asked again. */
export async function askWhenToRenew({ db, log, authority }: Ordering, signal: AbortSignal): Promise<void> {
  const questions = await claimQuestions(db, AT_ONCE)
  await Promise.all(
    questions.map(async question => {
      try {
        const told = await authority.renewalInfo(question.chain, signal)
        if (told === undefined) return await askAgain(db, question, againAfter(undefined))
        const { window, again_ms, why } = told
        await noteWindow(db, question, { ...window, moment: momentIn(window), again_ms })
        if (why !== undefined)
          log.warn({ name: question.name, why }, 'the authority says why it wants a certificate renewed')
      } catch (error) {
        // Asked again when the claim has passed; meanwhile what it has said before holds.
        log.debug({ name: question.name, problem: wordsOf(error) }, 'the authority did not say when to renew')
      }
    }),
  )
}
