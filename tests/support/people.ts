// Signed-in people, without the cost of hashing a password.
import { createHmac, randomBytes } from 'node:crypto'
import type { Role } from '../../src/contract/endpoint.ts'
import { newId } from '../../src/contract/ids.ts'
import { type SeededOrganization, seedOrganization, type TestHouse } from './house.ts'

const HOUR_MS = 3_600_000

/** The parts of a house that a session needs, or of a process on the same database with the same SECRET. */
type SessionGround = Pick<TestHouse, 'database'> & { readonly ground: Pick<TestHouse['ground'], 'secrets'> }

/** A session of the person. Returns the cookie to send: `house.call('GET', '/api/members', { cookie })`. */
export async function seedSession(house: SessionGround, user_id: string, ends_in_ms = HOUR_MS): Promise<string> {
  const token = randomBytes(16).toString('hex')
  const now = Date.now()
  await house.database.kysely
    .insertInto('sessions')
    .values({
      id: newId(),
      user_id,
      token,
      expires_at: new Date(now + ends_in_ms).toISOString(),
      created_at: new Date(now).toISOString(),
      updated_at: new Date(now).toISOString(),
    })
    .execute()
  const secret = house.ground.secrets.mac('sign-in', 'cookies').toString('base64url')
  const signature = createHmac('sha256', secret).update(token).digest('base64')
  return `sluice.session_token=${encodeURIComponent(`${token}.${signature}`)}`
}

export type SignedIn = SeededOrganization & { cookie: string; email: string }

/** A new person with a session: a member of `place` with this role, else with this role in a new organization. */
export async function seedSignedIn(
  house: TestHouse,
  { place, role = 'owner' }: { place?: SeededOrganization; role?: Role } = {},
): Promise<SignedIn> {
  if (place === undefined) {
    const own = await seedOrganization(house.database, { role })
    return { ...own, cookie: await seedSession(house, own.user_id), email: `${own.user_id}@example.com` }
  }
  const user_id = await seedPerson(house)
  await join(house, place, user_id, role)
  return { ...place, user_id, cookie: await seedSession(house, user_id), email: `${user_id}@example.com` }
}

/** A person with an account, but without a password and an organization. */
export async function seedPerson(house: TestHouse, email?: string): Promise<string> {
  const id = newId()
  const now = new Date().toISOString()
  await house.database.kysely
    .insertInto('users')
    .values({
      id,
      name: 'Person',
      email: email ?? `${id}@example.com`,
      email_verified: false,
      created_at: now,
      updated_at: now,
    })
    .execute()
  return id
}

/** Makes a person a member of an organization. */
export async function join(
  house: TestHouse,
  { org_id }: Pick<SeededOrganization, 'org_id'>,
  user_id: string,
  role: Role,
): Promise<void> {
  const joined_at = new Date().toISOString()
  await house.database.kysely.insertInto('members').values({ id: newId(), org_id, user_id, role, joined_at }).execute()
}
