/**
 * Codes and tokens of connections. Owns `connection_codes` and `connection_tokens`, which hold hashes only. A connection's key is the family of its
 * tokens: a code or a refresh token that is used twice was stolen, so the caller revokes the key and ends all its tokens (`endConnection`).
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import type pg from 'pg'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { revokeKeyIn } from '../keys/keys.ts'
import { type KeyRecord, rereadKeys } from '../keys/verify.ts'

const CODE_MS = 2 * MINUTE_MS
const ACCESS_MS = HOUR_MS
const REFRESH_MS = 60 * DAY_MS

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()
const newToken = (prefix: string): string => prefix + randomBytes(32).toString('base64url')
const later = (ms: number): string => new Date(Date.now() + ms).toISOString()

/** Stores a code of the key and returns it. `challenge` is the S256 code challenge. */
export async function issueCode(trx: Transaction<Tables>, key_id: string, challenge: string): Promise<string> {
  const code = newToken('sluice_code_')
  await trx
    .insertInto('connection_codes')
    .values({ hash: hashOf(code), key_id, challenge, created_at: new Date().toISOString() })
    .execute()
  return code
}

type Tokens = {
  readonly access_token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
  readonly refresh_token: string
}

type CodeExchange = {
  readonly code: string
  readonly verifier: string
  readonly client_id: string
  /** OAuth 2.1 does not ask for it, because the verifier proves more; one that is sent must be right. */
  readonly redirect_uri: string | undefined
}

/** The connection that a code or token belongs to which was used before. */
type StolenConnection = { readonly stolen_key_id: string }

/** Exchanges a code; undefined if it is not good, which uses it up. */
export async function exchangeCode(
  db: Kysely<Tables>,
  { code, verifier, client_id, redirect_uri }: CodeExchange,
): Promise<Tokens | StolenConnection | undefined> {
  const hash = hashOf(code)
  return db.transaction().execute(async trx => {
    const found = await trx
      .selectFrom('connection_codes')
      .select(['key_id', 'challenge', 'created_at', 'used_at'])
      .where('hash', '=', hash)
      .forUpdate()
      .executeTakeFirst()
    if (found === undefined) return undefined
    const { key_id, challenge, created_at, used_at } = found
    if (used_at !== null) return { stolen_key_id: key_id }
    await trx
      .updateTable('connection_codes')
      .set({ used_at: later(0) })
      .where('hash', '=', hash)
      .execute()
    const isInTime = Date.parse(created_at) + CODE_MS > Date.now()
    if (!isInTime || !isVerified(challenge, verifier)) return undefined
    const isTheirs = await isOf(trx, key_id, { client_id, redirect_uri })
    return isTheirs ? issueTokens(trx, key_id) : undefined
  })
}

/** Shorter ones can be guessed from their challenge, which the address of the consent page shows (RFC 7636). */
const VERIFIER = /^[\w.~-]{43,128}$/

function isVerified(challenge: string, verifier: string): boolean {
  if (!VERIFIER.test(verifier)) return false
  const made = Buffer.from(createHash('sha256').update(verifier).digest('base64url'))
  const wanted = Buffer.from(challenge)
  return made.length === wanted.length && timingSafeEqual(made, wanted)
}

/** Exchanges a refresh token for new tokens; undefined if it is not good. */
export async function refresh(
  db: Kysely<Tables>,
  token: string,
  client_id: string,
): Promise<Tokens | StolenConnection | undefined> {
  const hash = hashOf(token)
  return db.transaction().execute(async trx => {
    const found = await trx
      .selectFrom('connection_tokens')
      .select(['key_id', 'expires_at', 'used_at'])
      .where('hash', '=', hash)
      .where('kind', '=', 'refresh')
      .forUpdate()
      .executeTakeFirst()
    if (found === undefined || !(await isOf(trx, found.key_id, { client_id }))) return undefined
    if (found.used_at !== null) return { stolen_key_id: found.key_id }
    if (Date.parse(found.expires_at) <= Date.now()) return undefined
    await trx
      .updateTable('connection_tokens')
      .set({ used_at: later(0) })
      .where('hash', '=', hash)
      .execute()
    return issueTokens(trx, found.key_id)
  })
}

/** Whether the key is the connection of this client, is still accepted, and had this redirect. */
async function isOf(trx: Kysely<Tables>, key_id: string, of: { client_id: string; redirect_uri?: string | undefined }) {
  let found = trx
    .selectFrom('connections')
    .select('key_id')
    .where('key_id', '=', key_id)
    .where('client_id', '=', of.client_id)
  if (of.redirect_uri !== undefined) found = found.where('redirect_uri', '=', of.redirect_uri)
  return (await found.executeTakeFirst()) !== undefined
}

async function issueTokens(trx: Transaction<Tables>, key_id: string): Promise<Tokens | undefined> {
  const now = later(0)
  const live = await trx
    .selectFrom('api_keys')
    .select('id')
    .where('id', '=', key_id)
    .where('enabled', '=', true)
    .where('revoked_at', 'is', null)
    .where(on => on.or([on('expires_at', 'is', null), on('expires_at', '>', now)]))
    .executeTakeFirst()
  if (live === undefined) return undefined
  const [access_token, refresh_token] = [newToken('sluice_at_'), newToken('sluice_rt_')]
  await trx
    .insertInto('connection_tokens')
    .values([
      { hash: hashOf(access_token), key_id, kind: 'access', expires_at: later(ACCESS_MS) },
      { hash: hashOf(refresh_token), key_id, kind: 'refresh', expires_at: later(REFRESH_MS) },
    ])
    .execute()
  return { access_token, token_type: 'Bearer', expires_in: ACCESS_MS / 1000, refresh_token }
}

/** Revokes the key of a connection; its tokens are then good for nothing. */
export async function endConnection(trx: Transaction<Tables>, key_id: string): Promise<void> {
  await trx.deleteFrom('connection_tokens').where('key_id', '=', key_id).where('kind', '=', 'access').execute()
  await revokeKeyIn(trx, key_id)
}

/** The key behind a token of either kind, if the token is the client's. */
export async function keyToRevoke(db: Kysely<Tables>, token: string, client_id: string): Promise<string | undefined> {
  const found = await db
    .selectFrom('connection_tokens')
    .select('key_id')
    .where('hash', '=', hashOf(token))
    .executeTakeFirst()
  return found !== undefined && (await isOf(db, found.key_id, { client_id })) ? found.key_id : undefined
}

/** The key of an access token, read anew at each call; undefined for an unknown or expired token. */
export async function keyOfToken(pool: pg.Pool, token: string): Promise<KeyRecord | undefined> {
  const { rows } = await pool.query<{ key_id: string }>(
    `select key_id from connection_tokens where hash = $1 and kind = 'access' and expires_at > $2`,
    [hashOf(token), later(0)],
  )
  const [found] = rows
  return found === undefined ? undefined : (await rereadKeys(pool, [found.key_id])).get(found.key_id)
}

/** Deletes tokens that have expired, and codes of the last days. */
export async function deleteExpired(db: Kysely<Tables>): Promise<void> {
  await db.deleteFrom('connection_tokens').where('expires_at', '<', later(0)).execute()
  await db.deleteFrom('connection_codes').where('created_at', '<', later(-DAY_MS)).execute()
}
