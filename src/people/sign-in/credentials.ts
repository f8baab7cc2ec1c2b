/** Changing what one signs in with: the password, the address; and the proof that it is their person who does. */
import { isAPIError } from 'better-auth/api'
import type { z } from 'zod'
import { MINUTE_MS } from '../../contract/days.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTaken } from '../../ground/db/faults.ts'
import { sendMail } from '../../ground/mail/mail.ts'
import type { Answer, Person, Visit } from '../../ground/room.ts'
import type { EmailChange, PasswordChange } from './api.ts'
import { type Desk, forward, headersOf, keepingPlace, personOf } from './library-calls.ts'

type Form<T extends z.ZodType> = z.output<T>

/** Every other session ends, as whoever knew the old password may have one; this one is replaced and stays where it acted. */
export async function changePassword(desk: Desk, visit: Visit, form: Form<typeof PasswordChange>): Promise<Answer> {
  return keepingPlace(desk, visit, () =>
    forward(desk, visit, 'POST /change-password', { ...form, revokeOtherSessions: true }),
  )
}

/** Needs proof of the password, which the library would not ask for, and tells the old address. */
export async function changeEmail(desk: Desk, visit: Visit, form: Form<typeof EmailChange>): Promise<Answer> {
  const { ground } = desk
  const person = await personOf(desk, visit)
  const refusal = await unprovenPassword(desk, visit, person, form.currentPassword)
  if (refusal !== undefined) return refusal
  const newEmail = form.newEmail.toLowerCase()
  // The library answers a taken address as if it had changed; the person signed in is to know.
  const taken = await ground.db.selectFrom('users').select('id').where('email', '=', newEmail).executeTakeFirst()
  if (taken !== undefined) refuseTaken()
  let answer: Answer
  try {
    answer = await forward(desk, visit, 'POST /change-email', { newEmail })
  } catch (error) {
    if (isTaken(error)) refuseTaken()
    throw error
  }
  if (answer.status < 400)
    void sendMail(ground, {
      to: person.email,
      subject: 'The e-mail address of your Sluice account was changed',
      text: `Your account now signs in with ${newEmail}. If it was not you, ask an owner of your workspace for help at once.`,
    })
  return answer
}

function refuseTaken(): never {
  refuse('already_exists', { error: 'this e-mail address has an account' })
}

/** Who has just signed in has just shown the password; an older session, perhaps left open, must show it again. */
const JUST_SIGNED_IN_MS = 10 * MINUTE_MS

/** The refusal where the password has to be shown and was not, or is wrong; undefined where all is well. */
export async function unprovenPassword(
  desk: Desk,
  visit: Visit,
  { session_id }: Person,
  password: string | undefined,
): Promise<Answer | undefined> {
  if (password !== undefined) return wrongPassword(desk, visit, password)
  const { created_at } = await desk.ground.db
    .selectFrom('sessions')
    .select('created_at')
    .where('id', '=', session_id)
    .executeTakeFirstOrThrow()
  if (Date.now() - Date.parse(created_at) < JUST_SIGNED_IN_MS) return undefined
  return {
    status: 400,
    body: { error: 'currentPassword: this session is too old to go without it', code: 'PASSWORD_REQUIRED' },
  }
}

/** The refusal where it is not the password of who is signed in. */
export async function wrongPassword({ library }: Desk, visit: Visit, password: string): Promise<Answer | undefined> {
  try {
    await library.faithfully(() => library.auth.api.verifyPassword({ body: { password }, headers: headersOf(visit) }))
    return undefined
  } catch (error) {
    if (!isAPIError(error) || error.statusCode >= 500) throw error
    return { status: error.statusCode, body: { error: error.message, code: error.body?.code } }
  }
}
