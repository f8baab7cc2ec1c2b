/**
 * Signing up, in and out. The sign-in library hashes passwords and keeps sessions; what it may be asked is in visits.ts. A session lives in
 * its row alone: without the row, or past its end, nobody is signed in.
 */
import { HOUR_MS } from '../../contract/days.ts'
import { toWireId } from '../../contract/ids.ts'
import type { Answer, Context, Ground, Person, Visit } from '../../ground/room.ts'
import { openRounds } from '../../ground/rounds.ts'
import { forgetEnded } from '../accounts/sessions.ts'
import { forgetSpent } from '../second-factor/spent-codes.ts'
import type * as api from './api.ts'
import { FirstOwner } from './api.ts'
import type { Attempts } from '../accounts/attempts.ts'
import { type Desk, forward } from './library-calls.ts'
import { openLibrary } from './library.ts'
import { hasSetupCode, requireSetupCode } from './setup-code.ts'
import { createFirstOwner, needsOwner } from './sign-up.ts'
import { answerSignIn } from './visits.ts'

/** Opens sign-in. `deeds` furnish the room; `whoIs` is the door's question. Forgets what has ended once an hour until closed. */
export function openSignIn(ground: Ground, attempts: Attempts) {
  const library = openLibrary(ground)

  /** The person behind a session cookie; undefined without a good one. Throws when the database could not be asked. */
  async function whoIs({ cookie }: Visit['headers']): Promise<Person | undefined> {
    if (typeof cookie !== 'string') return undefined
    const headers = new Headers({ cookie })
    // No refresh here: it would lengthen the session without its cookie. The dashboard's own get-session does both.
    const ask = () => library.auth.api.getSession({ headers, query: { disableRefresh: true } })
    const found = await library.faithfully(ask)
    if (found === null) return undefined
    const { user, session } = found
    return {
      user_id: user.id,
      email: user.email,
      name: user.name,
      session_id: session.id,
      has_second_factor: user.twoFactorEnabled === true,
    }
  }

  const desk: Desk = { ground, library, attempts, whoIs }
  const visit = (_ground: Ground, asked: Visit): Promise<Answer> => answerSignIn(desk, asked)
  const rounds = openRounds(
    'sign-in',
    HOUR_MS,
    async () => {
      await forgetEnded(ground, new Date().toISOString())
      await forgetSpent(ground.db)
    },
    error => ground.log.warn({ err: error }, 'ended sessions could not be forgotten'),
  )
  return {
    whoIs,
    close: () => rounds.close(),
    deeds: {
      askSignIn: visit,
      signIn: visit,
      createOwner: (_ground: Ground, asked: Visit) => createOwner(desk, asked),
      readSetup,
    },
  }
}

async function createOwner(desk: Desk, visit: Visit): Promise<Answer> {
  const { db, config } = desk.ground
  const form = FirstOwner.parse(visit.body)
  await requireSetupCode(desk, visit, form.setup_code)
  const { password } = await desk.library.auth.$context
  const { user_id, organization_id } = await createFirstOwner(db, config, form, password.hash)
  const { headers = {} } = await forward(desk, visit, 'POST /sign-in/email', {
    email: form.email,
    password: form.password,
  })
  return { status: 201, headers, body: { user_id: toWireId(user_id), organization_id: toWireId(organization_id) } }
}

async function readSetup({ db, config }: Context<typeof api.readSetup>) {
  const needs_owner = await needsOwner(db)
  return { needs_owner, needs_code: needs_owner && hasSetupCode(config), sign_up: config.signUp }
}
