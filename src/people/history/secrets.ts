/** Values that no answer shows, read to tell whether a write changed them. They are compared in memory and never stored in the history. */
import { sql } from 'kysely'
import type { Reading } from './reading.ts'

export type SecretsOf = (reading: Reading, id: string) => Promise<Readonly<Record<string, string>>>

/** Reads sealed columns of a row: the name of each in the API, and its column. */
const sealed =
  (table: string, columns: Readonly<Record<string, string>>): SecretsOf =>
  async ({ db, secrets, org_id }, id) => {
    const { rows } = await sql<Record<string, Buffer | null>>`
      select ${sql.join(Object.values(columns).map(column => sql.ref(column)))} from ${sql.table(table)}
      where org_id = ${org_id} and id = ${id}`.execute(db)
    const text = (value: Buffer | null | undefined) => (value == null ? '' : opened(secrets, value))
    return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, text(rows[0]?.[column])]))
  }

/** The secret, or its sealed form if it cannot be opened: after a change of SECRET, objects must still be replaced and deleted. */
function opened(secrets: Reading['secrets'], value: Buffer): string {
  try {
    return secrets.open(value)
  } catch {
    return value.toString('hex')
  }
}

const ofBot = sealed('bots', { token: 'token', relay_url: 'relay_url', relay_secret: 'relay_secret' })

const ofReceiver = sealed('receivers', { secret: 'secret' })

export const readSecrets = {
  /** The path of an address may hold a password. */
  receiver: async (reading: Reading, id: string) => {
    const { rows } = await sql<{ url: string | null }>`
      select url from receivers where org_id = ${reading.org_id} and id = ${id}`.execute(reading.db)
    return { ...(await ofReceiver(reading, id)), url: rows[0]?.url ?? '' }
  },
  network: sealed('networks', { token: 'token' }),
  ad_account: sealed('ad_accounts', { credentials: 'credential' }),
  spend_account: sealed('spend_accounts', { access_token: 'token' }),
  /** The secret for copies is stored only as a hash, and the webhook's own secret never changes. */
  bot: async (reading: Reading, id: string) => {
    const { rows } = await sql<{ hash: string }>`
      select encode(h.secret_hash, 'hex') as hash from bot_hooks h
      join bots b on b.org_id = h.org_id and b.id = h.bot_id and b.has_copy_secret
      where b.org_id = ${reading.org_id} and h.org_id = ${reading.org_id} and h.bot_id = ${id}`.execute(reading.db)
    return { ...(await ofBot(reading, id)), copy_secret: rows[0]?.hash ?? '' }
  },
} satisfies Record<string, SecretsOf>
