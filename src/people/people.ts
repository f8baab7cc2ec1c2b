/** Puts the rooms of people together for `house.ts`. */
import type { Database } from '../ground/db/connect.ts'
import { type Ground, type Person, room } from '../ground/room.ts'
import type { TakePart } from '../ground/running.ts'
import * as accounts from './accounts/accounts.ts'
import * as accountsApi from './accounts/api.ts'
import { openAttempts } from './accounts/attempts.ts'
import * as avatars from './accounts/avatars.ts'
import * as preferences from './accounts/preferences.ts'
import * as connectionsApi from './connections/api.ts'
import * as connections from './connections/connections.ts'
import { oauthDeeds } from './connections/oauth.ts'
import { keyOfToken } from './connections/tokens.ts'
import * as findApi from './find/api.ts'
import * as find from './find/find.ts'
import type { Recorder } from './history/recorder.ts'
import * as keysApi from './keys/api.ts'
import * as grants from './keys/grants.ts'
import * as keys from './keys/keys.ts'
import { openKeyUses } from './keys/uses.ts'
import { openKeyReader } from './keys/verify.ts'
import { activeMembershipOf } from './organizations/active-membership.ts'
import * as organizationsApi from './organizations/api.ts'
import * as invitations from './organizations/invitations.ts'
import * as members from './organizations/members.ts'
import * as organizations from './organizations/organizations.ts'
import * as secondFactorApi from './second-factor/api.ts'
import * as secondFactor from './second-factor/second-factor.ts'
import * as signInApi from './sign-in/api.ts'
import { openSignIn } from './sign-in/sign-in.ts'

/** The endpoints, and how the gate finds out who calls and for which organization. `recorder` is called once all rooms are open. */
export function openPeople(ground: Ground, take: TakePart, recorder: () => Recorder) {
  const { database, db, log } = ground
  const attempts = openAttempts()
  const signIn = take(openSignIn(ground, attempts))
  const uses = take(openKeyUses(database.worker, log))
  const rooms = [
    ...room(signInApi, signIn.deeds),
    ...room(organizationsApi, {
      ...organizations,
      ...members,
      ...invitations,
      createInvitation: (context, call) => invitations.createInvitation({ ...context, attempts }, call),
    }),
    ...room(accountsApi, { ...accounts, ...preferences, ...avatars }),
    ...room(secondFactorApi, secondFactor),
    ...room(keysApi, { ...keys, ...grants }),
    ...room(findApi, find),
    ...room(connectionsApi, { ...connections, ...oauthDeeds(attempts, recorder) }),
  ]
  return {
    rooms,
    identities: {
      verifyKey: keyVerifier(database, uses),
      verifyToken: tokenVerifier(database, uses),
      whoIs: signIn.whoIs,
    },
    memberships: { activeMembershipOf: (person: Person) => activeMembershipOf(db, person) },
  }
}

/** Reads a key and records its use. */
function keyVerifier({ keys }: Database, uses: ReturnType<typeof openKeyUses>) {
  const reader = openKeyReader(keys)
  return async (secret: string) => {
    const record = await reader.verify(secret)
    if (record?.accepted) uses.note({ id: record.key_id })
    return record
  }
}

/** Reads the key behind a connection's access token and records its use. */
function tokenVerifier({ keys }: Database, uses: ReturnType<typeof openKeyUses>) {
  return async (token: string) => {
    const record = await keyOfToken(keys, token)
    if (record?.accepted) uses.note({ id: record.key_id })
    return record
  }
}

/** The periodic jobs, which do not run with ROLE=serve. */
export const PEOPLE_JOBS = [connections.openForgetting] as const
