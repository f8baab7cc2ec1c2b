/** Changing the password and the e-mail address, and checking the current password before a change. */
import { createEmailVerificationToken, isAPIError } from 'better-auth/api'
import type { z } from 'zod'
import { MINUTE_MS } from '../../contract/days.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTaken } from '../../ground/db/faults.ts'
import { linkTo, sendMail } from '../../ground/mail/mail.ts'
import type { Answer, Person, Visit } from '../../ground/room.ts'
import { endVerificationsOf } from '../accounts/accounts.ts'
import type { EmailChange, EmailProof, PasswordChange } from './api.ts'
import { type SignInContext, forward, headersOf, keepingWorkspace, personOf } from './library-calls.ts'

type Form<T extends z.ZodType> = z.output<T>

/**
 * Changes the password. Every other session and every reset link ends, because an attacker with the old password may hold one. This session
 * is replaced by a new one in the same workspace. Refuses `sign_in_required`.
 */
export async function changePassword(
  context: SignInContext,
  visit: Visit,
  form: Form<typeof PasswordChange>,
): Promise<Answer> {
  const { user_id } = await personOf(context, visit)
  const answer = await keepingWorkspace(context, visit, () =>
    forward(context, visit, 'POST /change-password', { ...form, revokeOtherSessions: true }),
  )
  if (answer.status < 400) await endVerificationsOf(context.ground, user_id)
  return answer
}

/** How long the link mailed to a new address works. */
const CONFIRM_S = 3600

/**
 * Mails a link to the new address. The address changes when the link is opened. Refuses `already_exists`, `mail_needed` without a mail
 * server, `mail_failed`, and `rate_limited` after five mails an hour to one address or thirty an hour by one person.
 */
export async function changeEmail(
  context: SignInContext,
  visit: Visit,
  form: Form<typeof EmailChange>,
): Promise<Answer> {
  const { ground, library } = context
  const person = await personOf(context, visit)
  const refusal = await checkCurrentPassword(context, visit, person, form.currentPassword)
  if (refusal !== undefined) return refusal
  if (ground.config.smtpUrl === undefined) refuse('mail_needed')
  await context.attempts.count('sender', person.user_id)
  const newEmail = form.newEmail.toLowerCase()
  const taken = await ground.db.selectFrom('users').select('id').where('email', '=', newEmail).executeTakeFirst()
  if (taken !== undefined) refuseTaken()
  await context.attempts.count('mail', newEmail)
  const { secret } = await library.auth.$context
  const token = await createEmailVerificationToken(secret, person.email, newEmail, CONFIRM_S, {
    requestType: 'change-email-verification',
  })
  const mail = await sendMail(ground, {
    to: newEmail,
    subject: 'Confirm your new e-mail address for Sluice',
    text: `Somebody asked to change the e-mail address of their Sluice account to this one. If it was you, open this link within an hour, in a browser where you are signed in:
${linkTo(ground.config, `/confirm-email?token=${token}`, headersOf(visit).get('origin'))}

If it was not you, ignore this e-mail: nothing has changed.`,
  })
  if (mail === 'failed') refuse('mail_failed')
  return { status: 200, body: { status: true } }
}

/**
 * Changes the address to the one that the token was mailed to, invalidates reset links sent to the old address, and notifies the old
 * address. Only the signed-in person who asked may do it: without a session the library would begin one for anyone who has the e-mail.
 * Refuses `sign_in_required` and `already_exists`.
 */
export async function confirmEmail(
  context: SignInContext,
  visit: Visit,
  { token }: Form<typeof EmailProof>,
): Promise<Answer> {
  const person = await personOf(context, visit)
  let answer: Answer
  try {
    answer = await forward(context, visit, `GET /verify-email?${new URLSearchParams({ token }).toString()}`, undefined)
  } catch (error) {
    if (isTaken(error)) refuseTaken()
    throw error
  }
  if (answer.status >= 400) return INVALID_LINK
  await endVerificationsOf(context.ground, person.user_id)
  const newEmail = (await personOf(context, visit)).email
  void sendMail(context.ground, {
    to: person.email,
    subject: 'The e-mail address of your Sluice account was changed',
    text: `Your account now signs in with ${newEmail}. If it was not you, ask an owner of your workspace for help at once.`,
  })
  return { ...answer, body: { status: true } }
}

const INVALID_LINK: Answer = {
  status: 400,
  body: {
    error: 'this link has expired, was used before, or is for another account',
    code: 'INVALID_TOKEN',
    hint: 'Sign in to the account whose address you want to change, and ask for a new link in Settings, Profile.',
  },
}

function refuseTaken(): never {
  refuse('already_exists', { error: 'this e-mail address already has an account' })
}

/** In a session younger than this the password was just entered. An older one may have been left open, so it must be entered again. */
const JUST_SIGNED_IN_MS = 10 * MINUTE_MS

/** Checks the current password, which a young session may omit. Returns the refusal when it is wrong or missing, otherwise undefined. */
export async function checkCurrentPassword(
  context: SignInContext,
  visit: Visit,
  { session_id }: Person,
  password: string | undefined,
): Promise<Answer | undefined> {
  if (password !== undefined) return checkPassword(context, visit, password)
  const { created_at } = await context.ground.db
    .selectFrom('sessions')
    .select('created_at')
    .where('id', '=', session_id)
    .executeTakeFirstOrThrow()
  if (Date.now() - Date.parse(created_at) < JUST_SIGNED_IN_MS) return undefined
  return {
    status: 400,
    body: { error: 'currentPassword: needed, because you signed in too long ago', code: 'PASSWORD_REQUIRED' },
  }
}

/** Checks the password of the signed-in person. Returns the refusal when it is wrong, otherwise undefined. */
export async function checkPassword(
  { library }: SignInContext,
  visit: Visit,
  password: string,
): Promise<Answer | undefined> {
  try {
    await library.withOriginalErrors(() =>
      library.auth.api.verifyPassword({ body: { password }, headers: headersOf(visit) }),
    )
    return undefined
  } catch (error) {
    if (!isAPIError(error) || error.statusCode >= 500) throw error
    return { status: error.statusCode, body: { error: error.message, code: error.body?.code } }
  }
}
