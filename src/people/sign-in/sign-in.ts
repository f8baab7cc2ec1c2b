/**
 * Signing up, in and out. The sign-in library hashes passwords and keeps sessions; visits.ts decides which requests reach it. A session is
 * valid only while its row exists and has not expired.
 */
import { HOUR_MS } from '../../contract/days.ts'
import { toWireId } from '../../contract/ids.ts'
import type { Answer, Context, Ground, Person, Visit } from '../../ground/room.ts'
import { openRounds } from '../../ground/rounds.ts'
import { deleteExpiredSessions } from '../accounts/sessions.ts'
import { deleteExpiredCodes } from '../second-factor/spent-codes.ts'
import type * as api from './api.ts'
import { FirstOwner } from './api.ts'
import type { Attempts } from '../accounts/attempts.ts'
import { type SignInContext, forward } from './library-calls.ts'
import { openLibrary } from './library.ts'
import { hasSetupCode, requireSetupCode } from './setup-code.ts'
import { createFirstOwner, needsOwner } from './sign-up.ts'
import { answerSignIn } from './visits.ts'

/**
 * Opens sign-in. `deeds` are the room's; the gate uses `whoIs` to read the session. Until it is closed, a periodic job deletes expired sessions
 * and codes once an hour.
 */
export function openSignIn(ground: Ground, attempts: Attempts) {
  const library = openLibrary(ground)

  /** The person of a session cookie. Undefined without a valid one. Throws when the database cannot be read. */
  async function whoIs({ cookie }: Visit['headers']): Promise<Person | undefined> {
    if (typeof cookie !== 'string') return undefined
    const headers = new Headers({ cookie })
    // A refresh here would extend the session but not its cookie. The dashboard's get-session extends both.
    const readSession = () => library.auth.api.getSession({ headers, query: { disableRefresh: true } })
    const signedIn = await library.withOriginalErrors(readSession)
    if (signedIn === null) return undefined
    const { user, session } = signedIn
    return {
      user_id: user.id,
      email: user.email,
      name: user.name,
      session_id: session.id,
      has_second_factor: user.twoFactorEnabled === true,
    }
  }

  const context: SignInContext = { ground, library, attempts, whoIs }
  const answer = (_ground: Ground, visit: Visit): Promise<Answer> => answerSignIn(context, visit)
  const rounds = openRounds(
    'sign-in',
    HOUR_MS,
    async () => {
      await deleteExpiredSessions(ground, new Date().toISOString())
      await deleteExpiredCodes(ground.db)
    },
    error => ground.log.warn({ err: error }, 'could not delete expired sessions'),
  )
  return {
    whoIs,
    close: () => rounds.close(),
    deeds: {
      askSignIn: answer,
      signIn: answer,
      createOwner: (_ground: Ground, visit: Visit) => createOwner(context, visit),
      readSetup,
    },
  }
}

async function createOwner(context: SignInContext, visit: Visit): Promise<Answer> {
  const { db, config } = context.ground
  const form = FirstOwner.parse(visit.body)
  await requireSetupCode(context, visit, form.setup_code)
  const { password } = await context.library.auth.$context
  const { user_id, organization_id } = await createFirstOwner(db, config, form, password.hash)
  const { headers = {} } = await forward(context, visit, 'POST /sign-in/email', {
    email: form.email,
    password: form.password,
  })
  return { status: 201, headers, body: { user_id: toWireId(user_id), organization_id: toWireId(organization_id) } }
}

async function readSetup({ db, config }: Context<typeof api.readSetup>) {
  const needs_owner = await needsOwner(db)
  return { needs_owner, needs_code: needs_owner && hasSetupCode(config), sign_up: config.signUp }
}
