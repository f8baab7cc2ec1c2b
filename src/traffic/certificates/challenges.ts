/** The open challenges of orders. Owns `acme_challenges`: the process that orders writes them, and any process answers them. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { Answer, Ground, Visit } from '../../ground/room.ts'

/** How long an authority may take to look from all its locations. */
const OPEN_MINUTES = 60

/** A token. Authorities send 43 characters; the column has room for 128. */
const TOKEN = /^[\w-]{16,128}$/

type Challenge = { readonly token: string; readonly name: string; readonly key_authorization: string }

/** Stores a challenge. Call it before the authority is told to look. */
export async function openChallenge(db: Kysely<Tables>, { token, name, key_authorization }: Challenge): Promise<void> {
  await sql`
    insert into acme_challenges (token, name, key_authorization, expires_at)
    values (${token}, ${name}, ${key_authorization}, now() + ${OPEN_MINUTES}::int * interval '1 minute')
    on conflict (token) do update set key_authorization = excluded.key_authorization, expires_at = excluded.expires_at`.execute(
    db,
  )
}

/** Deletes the challenges of an ended order, and all expired ones. */
export async function closeChallenges(db: Kysely<Tables>, tokens: readonly string[]): Promise<void> {
  await sql`delete from acme_challenges where token = any(${tokens}) or expires_at < now()`.execute(db)
}

export async function answerChallenge({ db }: Ground, { params }: Visit): Promise<Answer> {
  const { token = '' } = params
  const { rows } = TOKEN.test(token)
    ? await sql<{ key_authorization: string }>`
        select key_authorization from acme_challenges where token = ${token} and expires_at > now()`.execute(db)
    : { rows: [] }
  const [found] = rows
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  if (found === undefined) return { status: 404, headers, body: 'No such challenge.\n' }
  return { status: 200, headers: { ...headers, 'content-type': 'text/plain' }, body: found.key_authorization }
}
