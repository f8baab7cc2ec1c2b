/** Forgotten people. Owns `forgotten_people`, which recognizes them by a keyed hash of their user id. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'

type ForgottenGround = { readonly db: Kysely<Tables>; readonly secrets: Pick<Ground['secrets'], 'mac'> }

const hashOf = ({ secrets }: ForgottenGround, org_id: number, telegram_user_id: string): Buffer =>
  secrets.mac('forgotten person', `${org_id} ${telegram_user_id}`)

/** Marks a person as forgotten. */
export async function noteForgotten(ground: ForgottenGround, org_id: number, telegram_user_id: string): Promise<void> {
  await sql`
    insert into forgotten_people (org_id, person_hash, forgotten_at)
    values (${org_id}, ${hashOf(ground, org_id, telegram_user_id)}, ${new Date().toISOString()})
    on conflict do nothing`.execute(ground.db)
}

/** The people in the list who were never forgotten. */
export async function neverForgotten(
  ground: ForgottenGround,
  org_id: number,
  people: readonly string[],
): Promise<ReadonlySet<string>> {
  const hashes = people.map(person => hashOf(ground, org_id, person))
  const { rows } = await sql<{ person_hash: Buffer }>`
    select person_hash from forgotten_people
    where org_id = ${org_id} and person_hash = any(${hashes}::bytea[])`.execute(ground.db)
  const forgotten = new Set(rows.map(({ person_hash }) => person_hash.toString('hex')))
  return new Set(people.filter((_, at) => !forgotten.has(hashes[at]?.toString('hex') ?? '')))
}
