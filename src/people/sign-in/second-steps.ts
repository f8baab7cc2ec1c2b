/**
 * Visits that are about a second factor: setting it up, taking it down, and the step after the password. The sign-in library keeps the step (a
 * cookie for ten minutes, five tries in it, ten wrong codes in a row lock for a quarter of an hour); passkeys are the room's of the second factor.
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
import { spelled } from '../second-factor/recovery-codes.ts'
import { dropApp, heldCodes, keepCodes, settleAnew, waysIn } from '../second-factor/second-factor.ts'
import type { SignIn } from './api.ts'
import { unprovenPassword, wrongPassword } from './credentials.ts'
import { type Desk, forward, guarded, headersOf, keepingPlace, personOf, toAnswer } from './library-calls.ts'

type Path = keyof typeof SECOND_FORMS
type Form<T extends z.ZodType> = z.output<T>

/** Whether the path is about a second factor. */
export function isSecondPath(path: string): path is Path {
  return Object.hasOwn(SECOND_FORMS, path)
}

/** Answers such a visit. */
export async function answerSecondStep(desk: Desk, visit: Visit, path: Path): Promise<Answer> {
  const { body } = visit
  switch (path) {
    case 'POST /two-factor/enable':
      return beginApp(desk, visit, SECOND_FORMS[path].parse(body))
    case 'POST /two-factor/verify-totp': {
      const form = SECOND_FORMS[path].parse(body)
      return guarded(desk, visit, () => proveApp(desk, visit, form))
    }
    case 'POST /two-factor/disable': {
      const { password } = SECOND_FORMS[path].parse(body)
      return endApp(desk, visit, password)
    }
    case 'POST /two-factor/verify-backup-code': {
      const { code } = SECOND_FORMS[path].parse(body)
      return guarded(desk, visit, () => recover(desk, visit, code))
    }
    case 'POST /two-factor/generate-backup-codes': {
      const form = SECOND_FORMS[path].parse(body)
      return renewCodes(desk, visit, form)
    }
    case 'POST /passkey/ask': {
      const { currentPassword } = SECOND_FORMS[path].parse(body)
      return askForPasskey(desk, visit, currentPassword)
    }
    case 'POST /passkey/add':
      return addPasskey(desk, visit, SECOND_FORMS[path].parse(body))
    case 'POST /passkey/rename':
      return renamePasskey(desk, visit, SECOND_FORMS[path].parse(body))
    case 'POST /passkey/remove':
      return removePasskey(desk, visit, SECOND_FORMS[path].parse(body))
    case 'POST /passkey/ask-sign-in':
      return askForSignature(desk, visit)
    case 'POST /passkey/sign-in': {
      const { response } = SECOND_FORMS[path].parse(body)
      return guarded(desk, visit, () => signInWithPasskey(desk, visit, response as AuthenticationResponseJSON))
    }
  }
}

/** The answer to a right password with the ways that are open for the step after it, where one is asked for. */
export async function withWays({ ground }: Desk, { email }: Form<typeof SignIn>, answer: Answer): Promise<Answer> {
  if (answer.status >= 400 || !('twoFactorRedirect' in said(answer))) return answer
  return { ...answer, body: { twoFactorRedirect: true, twoFactorMethods: await waysIn(ground, email) } }
}

/** What the library said, of an answer that is on its way out. */
const said = ({ body }: Answer) => JSON.parse(String(body)) as Record<string, unknown>

async function beginApp(desk: Desk, visit: Visit, form: Form<typeof AppBegin>): Promise<Answer> {
  const { db } = desk.ground
  const person = await personOf(desk, visit)
  const held = person.has_second_factor ? await heldCodes(db, person.user_id) : undefined
  const ask = () => guarded(desk, visit, () => forward(desk, visit, 'POST /two-factor/enable', form))
  // Of two that begin at once, one finds no row and comes too late to write its own.
  const answer = await ask().catch((error: unknown) => {
    if (isTaken(error)) return ask()
    throw error
  })
  if (answer.status >= 400) return answer
  const { totpURI, backupCodes } = said(answer)
  // The library makes new codes with every app; who has kept those of a passkey keeps them.
  if (held !== undefined) await keepCodes(db, person.user_id, held)
  return { ...answer, body: { totpURI, recoveryCodes: held === undefined ? backupCodes : null } }
}

/** Signed in it confirms the app, which replaces the session; otherwise it is the step after the password. */
async function proveApp(desk: Desk, visit: Visit, form: { code: string }): Promise<Answer> {
  const person = await desk.whoIs(visit.headers)
  const answer = inWords(
    await keepingPlace(desk, visit, () => forward(desk, visit, 'POST /two-factor/verify-totp', form)),
  )
  if (person === undefined || answer.status >= 400) return answer
  await settleAnew(desk.ground.db, person.user_id)
  tell(
    desk,
    person.email,
    'An app shows codes for your Sluice account',
    'Signing in asks for a code of it from now on.',
  )
  return answer
}

const ANEW = 'Sign in anew.'

/** What the library says in its own words, in those of whoever stands before the door. */
const WORDS: Readonly<Record<string, { error: string; hint?: string }>> = {
  INVALID_CODE: {
    error: 'this code is wrong',
    hint: 'Take the one the app shows now, and compare the clock of the phone.',
  },
  INVALID_BACKUP_CODE: { error: 'this recovery code is wrong, or was used' },
  INVALID_TWO_FACTOR_COOKIE: { error: 'the password was shown too long ago', hint: ANEW },
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: { error: 'too many codes were wrong', hint: ANEW },
  ACCOUNT_TEMPORARILY_LOCKED: { error: 'ten codes in a row were wrong', hint: 'Wait a quarter of an hour.' },
}

function inWords(answer: Answer): Answer {
  if (answer.status < 400) return answer
  const { error, code } = answer.body as { error: string; code?: string }
  return { ...answer, body: { error, ...(code === undefined ? {} : { ...WORDS[code], code }) } }
}

async function endApp(desk: Desk, visit: Visit, password: string): Promise<Answer> {
  const person = await personOf(desk, visit)
  const refusal = await proven(desk, visit, () => wrongPassword(desk, visit, password))
  if (refusal !== undefined) return refusal
  await dropApp(desk.ground.db, person.user_id)
  tell(desk, person.email, 'The app of your Sluice account was removed', 'Its codes are not asked for any more.')
  return DONE
}

async function recover(desk: Desk, visit: Visit, code: string): Promise<Answer> {
  if ((await desk.whoIs(visit.headers)) !== undefined)
    refuse('invalid_request', { error: 'you are signed in: recovery codes are for signing in' })
  const path = 'POST /two-factor/verify-backup-code'
  const answer = inWords(await forward(desk, visit, path, { code: spelled(code) }))
  if (answer.status >= 400) return answer
  const { email } = said(answer)['user'] as { email: string }
  tell(desk, email, 'A recovery code let someone into your Sluice account', 'It is used up.')
  return answer
}

async function renewCodes(desk: Desk, visit: Visit, form: { password: string }): Promise<Answer> {
  const person = await personOf(desk, visit)
  const path = 'POST /two-factor/generate-backup-codes'
  const answer = await guarded(desk, visit, () => forward(desk, visit, path, form))
  if (answer.status >= 400) return answer
  tell(desk, person.email, 'New recovery codes for your Sluice account', 'Those before them are no good any more.')
  return { ...answer, body: { recoveryCodes: said(answer)['backupCodes'] } }
}

async function askForPasskey(desk: Desk, visit: Visit, password: string | undefined): Promise<Answer> {
  const person = await personOf(desk, visit)
  const refusal = await proven(desk, visit, () => unprovenPassword(desk, visit, person, password))
  if (refusal !== undefined) return refusal
  const place = placeOf(visit)
  return place === undefined ? NO_NAME : unstored(await passkeys.askForPasskey(desk.ground, place, person))
}

async function addPasskey(desk: Desk, visit: Visit, { name, response }: Form<typeof PasskeyDraft>): Promise<Answer> {
  const person = await personOf(desk, visit)
  const place = placeOf(visit)
  if (place === undefined) return NO_NAME
  const made = { name, response: response as unknown as RegistrationResponseJSON }
  const added = await passkeys.addPasskey(desk.ground, place, person, made)
  if (added === undefined) return passkeyRefused(400)
  tell(desk, person.email, 'A passkey was added to your Sluice account', `It is called ${oneLine(name)}, and signs in.`)
  return unstored({ id: toWireId(added.id), recoveryCodes: added.recovery_codes })
}

async function renamePasskey(desk: Desk, visit: Visit, form: Form<typeof PasskeyName>): Promise<Answer> {
  await passkeys.renamePasskey(desk.ground, await personOf(desk, visit), form)
  return DONE
}

async function removePasskey(desk: Desk, visit: Visit, form: Form<typeof PasskeyEnd>): Promise<Answer> {
  const person = await personOf(desk, visit)
  const refusal = await proven(desk, visit, () => unprovenPassword(desk, visit, person, form.currentPassword))
  if (refusal !== undefined) return refusal
  const { name } = await passkeys.removePasskey(desk.ground, person, form.id)
  tell(desk, person.email, 'A passkey of your Sluice account was removed', `It was called ${oneLine(name)}.`)
  return DONE
}

async function askForSignature({ ground }: Desk, visit: Visit): Promise<Answer> {
  const place = placeOf(visit)
  return place === undefined ? NO_NAME : unstored(await passkeys.askForSignature(ground, place))
}

async function signInWithPasskey(desk: Desk, visit: Visit, response: AuthenticationResponseJSON): Promise<Answer> {
  const { ground, library } = desk
  const place = placeOf(visit)
  const userId = place && (await passkeys.whoSigned(ground, place, response))
  if (userId === undefined) return passkeyRefused(401)
  const headers = headersOf(visit)
  return toAnswer(
    await library.faithfully(() => library.auth.api.letIn({ body: { userId }, headers, asResponse: true })),
  )
}

/** The host a passkey is bound to is the one of the Origin, which the door has compared. Undefined for an address without a name. */
function placeOf({ headers: { origin } }: Visit): passkeys.Place | undefined {
  if (typeof origin !== 'string') return undefined
  const host = new URL(origin).hostname
  return isIP(host.replace(/^\[|\]$/g, '')) === 0 ? { origin, host } : undefined
}

/** Counted like a password, which it is. */
async function proven(desk: Desk, visit: Visit, look: () => Promise<Answer | undefined>): Promise<Answer | undefined> {
  const answer = await guarded(desk, visit, async () => (await look()) ?? DONE)
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
    hint: 'It is unknown here, was removed, or answered too late. Try again, or sign in another way.',
  },
})

const NO_NAME: Answer = {
  status: 400,
  body: {
    error: 'passkeys need a host with a name',
    code: 'PASSKEY_REFUSED',
    hint: 'Open Sluice at localhost instead of 127.0.0.1, or give it a name with BASE_URL.',
  },
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ')

/** Not awaited: what it tells of has happened. */
function tell({ ground }: Desk, to: string, subject: string, words: string): void {
  const text = `${words}\n\nIf it was not you, change your password at once, and ask an owner of your workspace for help.`
  void sendMail(ground, { to, subject, text })
}
