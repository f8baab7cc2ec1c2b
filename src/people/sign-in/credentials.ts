/** Changing what one signs in with: the password, the address; and the proof that it is their person who does. */
import { createEmailVerificationToken, isAPIError } from 'better-auth/api'
import type { z } from 'zod'
import { MINUTE_MS } from '../../contract/days.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTaken } from '../../ground/db/faults.ts'
import { linkTo, sendMail } from '../../ground/mail/mail.ts'
import type { Answer, Person, Visit } from '../../ground/room.ts'
import { endVerificationsOf } from '../accounts/accounts.ts'
import type { EmailChange, EmailProof, PasswordChange } from './api.ts'
import { type Desk, forward, headersOf, keepingPlace, personOf } from './library-calls.ts'

type Form<T extends z.ZodType> = z.output<T>

/**
 * Every other session ends, as whoever knew the old password may have one, and every link for a new password; this session is replaced and
 * stays where it acted. Refuses `sign_in_required`.
 */
export async function changePassword(desk: Desk, visit: Visit, form: Form<typeof PasswordChange>): Promise<Answer> {
  const { user_id } = await personOf(desk, visit)
  const answer = await keepingPlace(desk, visit, () =>
    forward(desk, visit, 'POST /change-password', { ...form, revokeOtherSessions: true }),
  )
  if (answer.status < 400) await endVerificationsOf(desk.ground, user_id)
  return answer
}

/** How long the link in the mail to a new address works. */
const CONFIRM_S = 3600

/**
 * Mails a link to the new address; the address changes when the link is opened. Refuses `already_exists`, `mail_needed` where there is
 * no mail server, `mail_failed`, and `rate_limited` after five mails an hour to one address or thirty an hour by one person.
 */
export async function changeEmail(desk: Desk, visit: Visit, form: Form<typeof EmailChange>): Promise<Answer> {
  const { ground, library } = desk
  const person = await personOf(desk, visit)
  const refusal = await unprovenPassword(desk, visit, person, form.currentPassword)
  if (refusal !== undefined) return refusal
  if (ground.config.smtpUrl === undefined) refuse('mail_needed')
  await desk.attempts.count('sender', person.user_id)
  const newEmail = form.newEmail.toLowerCase()
  const taken = await ground.db.selectFrom('users').select('id').where('email', '=', newEmail).executeTakeFirst()
  if (taken !== undefined) refuseTaken()
  await desk.attempts.count('mail', newEmail)
  const { secret } = await library.auth.$context
  const token = await createEmailVerificationToken(secret, person.email, newEmail, CONFIRM_S, {
    requestType: 'change-email-verification',
  })
  const mail = await sendMail(ground, {
    to: newEmail,
    subject: 'Confirm your new e-mail address for Sluice',
    text: `Somebody wants to sign in to Sluice with this address from now on. If it is you, open this link within an hour, in a browser where you are signed in:
${linkTo(ground.config, `/confirm-email?token=${token}`, headersOf(visit).get('origin'))}

If it was not you, ignore this mail: nothing has changed.`,
  })
  if (mail === 'failed') refuse('mail_failed')
  return { status: 200, body: { status: true } }
}

/**
 * Changes the address to the one that the token was mailed to, which proves it, ends the links for a new password that the old address
 * was sent, and tells that address. Only for the person who
 * asked, signed in: without a session the library would begin one for whoever has the mail. Refuses `sign_in_required`, `already_exists`.
 */
export async function confirmEmail(desk: Desk, visit: Visit, { token }: Form<typeof EmailProof>): Promise<Answer> {
  const person = await personOf(desk, visit)
  let answer: Answer
  try {
    answer = await forward(desk, visit, `GET /verify-email?${new URLSearchParams({ token }).toString()}`, undefined)
  } catch (error) {
    if (isTaken(error)) refuseTaken()
    throw error
  }
  if (answer.status >= 400) return WRONG_LINK
  await endVerificationsOf(desk.ground, person.user_id)
  const now = (await personOf(desk, visit)).email
  void sendMail(desk.ground, {
    to: person.email,
    subject: 'The e-mail address of your Sluice account was changed',
    text: `Your account now signs in with ${now}. If it was not you, ask an owner of your workspace for help at once.`,
  })
  return { ...answer, body: { status: true } }
}

const WRONG_LINK: Answer = {
  status: 400,
  body: {
    error: 'this link is not for the account that is signed in, is too old, or was used',
    code: 'INVALID_TOKEN',
    hint: 'Sign in with the account whose address is to change, and ask for a new link in Settings, Profile.',
  },
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
