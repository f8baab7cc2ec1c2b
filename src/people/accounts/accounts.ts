/**
 * People: accounts, sign-in and sessions. Owns `users`, `sessions`, `accounts` and `verifications`, most of which the sign-in
 * library writes. A session lives in its row alone: without the row, or past its end, nobody is signed in.
 */
import { HOUR_MS } from '../../contract/days.ts'
import type { Call } from '../../contract/endpoint.ts'
import { toWireId } from '../../contract/ids.ts'
import { type Answer, type Context, type Ground, idOf, type Person, type Visit } from '../../ground/room.ts'
import { openRounds } from '../../ground/rounds.ts'
import type * as api from './api.ts'
import { FirstOwner } from './api.ts'
import { openAttempts } from './attempts.ts'
import { endSessionOf, sessionsOf } from './sessions.ts'
import { readPreferences, replacePreferences } from './preferences.ts'
import { openLibrary } from './sign-in.ts'
import { createFirstOwner, needsOwner } from './sign-up.ts'
import { answerSignIn, type Desk, forward } from './visits.ts'

/** Opens sign-in. `deeds` furnish the room; `whoIs` is the door's question. Forgets what has ended once an hour until closed. */
export function openAccounts(ground: Ground) {
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
    return { user_id: user.id, email: user.email, name: user.name, session_id: session.id }
  }

  const desk: Desk = { ground, library, attempts: openAttempts(), whoIs }
  const visit = (_ground: Ground, asked: Visit): Promise<Answer> => answerSignIn(desk, asked)
  const rounds = openRounds(
    HOUR_MS,
    () => forgetEnded(ground, new Date().toISOString()),
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
      readPreferences,
      replacePreferences,
      listSessions,
      revokeSession,
    },
  }
}

async function createOwner(desk: Desk, visit: Visit): Promise<Answer> {
  const { db, config } = desk.ground
  const form = FirstOwner.parse(visit.body)
  const { password } = await desk.library.auth.$context
  const { user_id, organization_id } = await createFirstOwner(db, config, form, password.hash)
  const { headers = {} } = await forward(desk, visit, 'POST /sign-in/email', {
    email: form.email,
    password: form.password,
  })
  return { status: 201, headers, body: { user_id: toWireId(user_id), organization_id: toWireId(organization_id) } }
}

async function readSetup({ db, config }: Context<typeof api.readSetup>) {
  return { needs_owner: await needsOwner(db), sign_up: config.signUp }
}

async function listSessions({ db, actor }: Context<typeof api.listSessions>) {
  const rows = await sessionsOf(db, actor)
  return { data: rows.map(row => ({ ...row, current: row.id === actor.session_id })), next_cursor: null }
}

async function revokeSession(
  { db, actor }: Context<typeof api.revokeSession>,
  { params }: Call<typeof api.revokeSession>,
) {
  await endSessionOf(db, actor, idOf(params.id))
  return { ok: true as const }
}

/** Forgets sessions and reset links that ended before `now` (ISO): housekeeping, as their end alone keeps them out. */
export async function forgetEnded({ db }: Pick<Ground, 'db'>, now: string): Promise<void> {
  await db.deleteFrom('sessions').where('expires_at', '<', now).execute()
  await db.deleteFrom('verifications').where('expires_at', '<', now).execute()
}
