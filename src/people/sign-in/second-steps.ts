/**
 * Requests for second factors: setting them up, removing them, and the step after the password. The sign-in library runs that step: its cookie
 * lasts ten minutes and allows five tries, and ten wrong codes in a row lock the account for 15 minutes. Passkeys are in the second-factor
 * room.
 */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { isIP } from 'node:net'
import type { z } from 'zod'
import { toWireId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTaken } from '../../ground/db/faults.ts'
import { sendMail } from '../../ground/mail/mail.ts'
import type { Answer, Visit } from '../../ground/room.ts'
import {
  type AppBegin,
  type PasskeyDraft,
  type PasskeyEnd,
  type PasskeyName,
  SECOND_FORMS,
} from '../second-factor/api.ts'
import * as passkeys from '../second-factor/passkeys.ts'
import { normalizeCode } from '../second-factor/recovery-codes.ts'
import {
  removeApp,
  readSealedCodes,
  storeSealedCodes,
  refreshFactorFlag,
  secondStepMethods,
} from '../second-factor/second-factor.ts'
import type { SignIn } from './api.ts'
import { checkCurrentPassword, checkPassword } from './credentials.ts'
import {
  type SignInContext,
  forward,
  countingGuesses,
  headersOf,
  keepingWorkspace,
  personOf,
  toAnswer,
} from './library-calls.ts'

type Path = keyof typeof SECOND_FORMS
type Form<T extends z.ZodType> = z.output<T>

/** Whether the path is one for second factors. */
export function isSecondPath(path: string): path is Path {
  return Object.hasOwn(SECOND_FORMS, path)
}

/** Answers a request to such a path. */
export async function answerSecondStep(context: SignInContext, visit: Visit, path: Path): Promise<Answer> {
  const { body } = visit
  switch (path) {
    case 'POST /two-factor/enable':
      return beginApp(context, visit, SECOND_FORMS[path].parse(body))
    case 'POST /two-factor/verify-totp': {
      const form = SECOND_FORMS[path].parse(body)
      return countingGuesses(context, visit, () => proveApp(context, visit, form))
    }
    case 'POST /two-factor/disable': {
      const { password } = SECOND_FORMS[path].parse(body)
      return endApp(context, visit, password)
    }
    case 'POST /two-factor/verify-backup-code': {
      const { code } = SECOND_FORMS[path].parse(body)
      return countingGuesses(context, visit, () => recover(context, visit, code))
    }
    case 'POST /two-factor/generate-backup-codes': {
      const form = SECOND_FORMS[path].parse(body)
      return renewCodes(context, visit, form)
    }
    case 'POST /passkey/ask': {
      const { currentPassword } = SECOND_FORMS[path].parse(body)
      return askForPasskey(context, visit, currentPassword)
    }
    case 'POST /passkey/add':
      return addPasskey(context, visit, SECOND_FORMS[path].parse(body))
    case 'POST /passkey/rename':
      return renamePasskey(context, visit, SECOND_FORMS[path].parse(body))
    case 'POST /passkey/remove':
      return removePasskey(context, visit, SECOND_FORMS[path].parse(body))
    case 'POST /passkey/ask-sign-in':
      return askForSignature(context, visit)
    case 'POST /passkey/sign-in': {
      const { response } = SECOND_FORMS[path].parse(body)
      return countingGuesses(context, visit, () =>
        signInWithPasskey(context, visit, response as AuthenticationResponseJSON),
      )
    }
  }
}

/** The answer to a correct password. When a second step follows, the accepted methods are added. */
export async function withMethods(
  { ground }: SignInContext,
  { email }: Form<typeof SignIn>,
  answer: Answer,
): Promise<Answer> {
  if (answer.status >= 400 || !('twoFactorRedirect' in libraryBody(answer))) return answer
  return { ...answer, body: { twoFactorRedirect: true, twoFactorMethods: await secondStepMethods(ground, email) } }
}

/** The parsed body of an answer of the library. */
const libraryBody = ({ body }: Answer) => JSON.parse(String(body)) as Record<string, unknown>

async function beginApp(context: SignInContext, visit: Visit, form: Form<typeof AppBegin>): Promise<Answer> {
  const { db } = context.ground
  const person = await personOf(context, visit)
  const codesBefore = person.has_second_factor ? await readSealedCodes(db, person.user_id) : undefined
  const begin = () => countingGuesses(context, visit, () => forward(context, visit, 'POST /two-factor/enable', form))
  // Of two concurrent calls, one may fail to insert the row that both found missing. It tries again with the row present.
  const answer = await begin().catch((error: unknown) => {
    if (isTaken(error)) return begin()
    throw error
  })
  if (answer.status >= 400) return answer
  const { totpURI, backupCodes } = libraryBody(answer)
  // The library makes new recovery codes with every app. A person who has codes already keeps them.
  if (codesBefore !== undefined) await storeSealedCodes(db, person.user_id, codesBefore)
  return { ...answer, body: { totpURI, recoveryCodes: codesBefore === undefined ? backupCodes : null } }
}

/** Confirms the app when signed in, which replaces the session. Otherwise it is the step after the password. */
async function proveApp(context: SignInContext, visit: Visit, form: { code: string }): Promise<Answer> {
  const person = await context.whoIs(visit.headers)
  const answer = withPlainError(
    await keepingWorkspace(context, visit, () => forward(context, visit, 'POST /two-factor/verify-totp', form)),
  )
  if (person === undefined || answer.status >= 400) return answer
  await refreshFactorFlag(context.ground.db, person.user_id)
  mailNotice(
    context,
    person.email,
    'An authenticator app was added to your Sluice account',
    'From now on, signing in asks for its code.',
  )
  return answer
}

const SIGN_IN_AGAIN = 'Sign in again.'

/** Plain texts for the library's error codes. */
const PLAIN_ERRORS: Readonly<Record<string, { error: string; hint?: string }>> = {
  INVALID_CODE: {
    error: 'this code is wrong',
    hint: 'Enter the code that the app shows now. If it is refused again, check the clock of the phone.',
  },
  INVALID_BACKUP_CODE: { error: 'this recovery code is wrong or was used before' },
  INVALID_TWO_FACTOR_COOKIE: { error: 'the password was entered too long ago', hint: SIGN_IN_AGAIN },
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: { error: 'too many codes were wrong', hint: SIGN_IN_AGAIN },
  ACCOUNT_TEMPORARILY_LOCKED: { error: 'ten codes in a row were wrong', hint: 'Wait 15 minutes.' },
}

function withPlainError(answer: Answer): Answer {
  if (answer.status < 400) return answer
  const { error, code } = answer.body as { error: string; code?: string }
  return { ...answer, body: { error, ...(code === undefined ? {} : { ...PLAIN_ERRORS[code], code }) } }
}

async function endApp(context: SignInContext, visit: Visit, password: string): Promise<Answer> {
  const person = await personOf(context, visit)
  const refusal = await refusalOf(context, visit, () => checkPassword(context, visit, password))
  if (refusal !== undefined) return refusal
  await removeApp(context.ground.db, person.user_id)
  mailNotice(
    context,
    person.email,
    'The app of your Sluice account was removed',
    'Signing in no longer asks for its codes.',
  )
  return DONE
}

async function recover(context: SignInContext, visit: Visit, code: string): Promise<Answer> {
  if ((await context.whoIs(visit.headers)) !== undefined)
    refuse('invalid_request', { error: 'you are already signed in: recovery codes are only for signing in' })
  const path = 'POST /two-factor/verify-backup-code'
  const answer = withPlainError(await forward(context, visit, path, { code: normalizeCode(code) }))
  if (answer.status >= 400) return answer
  const { email } = libraryBody(answer)['user'] as { email: string }
  mailNotice(context, email, 'A recovery code was used to sign in to your Sluice account', 'That code no longer works.')
  return answer
}

async function renewCodes(context: SignInContext, visit: Visit, form: { password: string }): Promise<Answer> {
  const person = await personOf(context, visit)
  const path = 'POST /two-factor/generate-backup-codes'
  const answer = await countingGuesses(context, visit, () => forward(context, visit, path, form))
  if (answer.status >= 400) return answer
  mailNotice(context, person.email, 'New recovery codes for your Sluice account', 'The previous codes no longer work.')
  return { ...answer, body: { recoveryCodes: libraryBody(answer)['backupCodes'] } }
}

async function askForPasskey(context: SignInContext, visit: Visit, password: string | undefined): Promise<Answer> {
  const person = await personOf(context, visit)
  const refusal = await refusalOf(context, visit, () => checkCurrentPassword(context, visit, person, password))
  if (refusal !== undefined) return refusal
  const relyingParty = relyingPartyOf(visit)
  return relyingParty === undefined
    ? HOST_IS_ADDRESS
    : unstored(await passkeys.askForPasskey(context.ground, relyingParty, person))
}

async function addPasskey(
  context: SignInContext,
  visit: Visit,
  { name, response }: Form<typeof PasskeyDraft>,
): Promise<Answer> {
  const person = await personOf(context, visit)
  const relyingParty = relyingPartyOf(visit)
  if (relyingParty === undefined) return HOST_IS_ADDRESS
  const draft = { name, response: response as unknown as RegistrationResponseJSON }
  const added = await passkeys.addPasskey(context.ground, relyingParty, person, draft)
  if (added === undefined) return passkeyRefused(400)
  mailNotice(
    context,
    person.email,
    'A passkey was added to your Sluice account',
    `It is called ${oneLine(name)} and can sign in to your account.`,
  )
  return unstored({ id: toWireId(added.id), recoveryCodes: added.recovery_codes })
}

async function renamePasskey(context: SignInContext, visit: Visit, form: Form<typeof PasskeyName>): Promise<Answer> {
  await passkeys.renamePasskey(context.ground, await personOf(context, visit), form)
  return DONE
}

async function removePasskey(context: SignInContext, visit: Visit, form: Form<typeof PasskeyEnd>): Promise<Answer> {
  const person = await personOf(context, visit)
  const refusal = await refusalOf(context, visit, () =>
    checkCurrentPassword(context, visit, person, form.currentPassword),
  )
  if (refusal !== undefined) return refusal
  const { name } = await passkeys.removePasskey(context.ground, person, form.id)
  mailNotice(context, person.email, 'A passkey of your Sluice account was removed', `It was called ${oneLine(name)}.`)
  return DONE
}

async function askForSignature({ ground }: SignInContext, visit: Visit): Promise<Answer> {
  const relyingParty = relyingPartyOf(visit)
  return relyingParty === undefined ? HOST_IS_ADDRESS : unstored(await passkeys.askForSignature(ground, relyingParty))
}

async function signInWithPasskey(
  context: SignInContext,
  visit: Visit,
  response: AuthenticationResponseJSON,
): Promise<Answer> {
  const { ground, library } = context
  const relyingParty = relyingPartyOf(visit)
  const userId = relyingParty && (await passkeys.verifySignature(ground, relyingParty, response))
  if (userId === undefined) return passkeyRefused(401)
  const headers = headersOf(visit)
  return toAnswer(
    await library.withOriginalErrors(() =>
      library.auth.api.beginSession({ body: { userId }, headers, asResponse: true }),
    ),
  )
}

/** The relying party of a request, from its Origin header, which the gate has checked. Undefined when the host is an IP address. */
function relyingPartyOf({ headers: { origin } }: Visit): passkeys.RelyingParty | undefined {
  if (typeof origin !== 'string') return undefined
  const host = new URL(origin).hostname
  return isIP(host.replace(/^\[|\]$/g, '')) === 0 ? { origin, host } : undefined
}

type PasswordCheck = () => Promise<Answer | undefined>

/** Runs a password check and counts a wrong password as a guess. Returns the refusal, if any. */
async function refusalOf(context: SignInContext, visit: Visit, check: PasswordCheck): Promise<Answer | undefined> {
  const answer = await countingGuesses(context, visit, async () => (await check()) ?? DONE)
  return answer.status < 400 ? undefined : answer
}

const DONE: Answer = { status: 200, headers: { 'cache-control': 'no-store' }, body: { status: true } }

const unstored = (body: unknown): Answer => ({ status: 200, headers: { 'cache-control': 'no-store' }, body })

const passkeyRefused = (status: number): Answer => ({
  status,
  headers: { 'cache-control': 'no-store' },
  body: {
    error: 'this passkey was not accepted',
    code: 'PASSKEY_REFUSED',
    hint: 'It is unknown, was removed, or the dialog was open too long. Try again, or sign in another way.',
  },
})

const HOST_IS_ADDRESS: Answer = {
  status: 400,
  body: {
    error: 'passkeys do not work at an IP address',
    code: 'PASSKEY_REFUSED',
    hint: 'Open Sluice at localhost instead of 127.0.0.1, or set a host name in BASE_URL.',
  },
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ')

/** Mails a person about a change of their account. It is not awaited, because the change is already made. */
function mailNotice({ ground }: SignInContext, to: string, subject: string, words: string): void {
  const text = `${words}\n\nIf it was not you, change your password at once, and ask an owner of your workspace for help.`
  void sendMail(ground, { to, subject, text })
}
