/** The AI host that a key was last used from. Writes `api_key_uses.host`. A protocol without sessions names its host only when a connection begins. */
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import type { Tables } from '../../ground/db/tables.ts'
import type { HostName } from '../../ground/history/record.ts'

const LONGEST = 100
const HostInfo = z.object({ name: z.string(), version: z.string().catch('') })

/** The host in the `clientInfo` of a message, cut to a useful length; null if it names none. */
export function hostIn(info: unknown): HostName | null {
  const read = HostInfo.safeParse(info)
  if (!read.success || read.data.name === '') return null
  const cut = (text: string) => text.replaceAll('\0', '').toWellFormed().slice(0, LONGEST)
  return { name: cut(read.data.name), version: cut(read.data.version) }
}

/** Keeps the host that a connection with the key began from. */
export async function rememberHost(db: Kysely<Tables>, key_id: string, host: HostName): Promise<void> {
  await sql`
    insert into api_key_uses (key_id, last_used_at, host) values (${key_id}, ${new Date().toISOString()}, ${JSON.stringify(host)})
    on conflict (key_id) do update set host = excluded.host`.execute(db)
}

/** The host that the last connection with the key began from; null if none named itself. */
export async function rememberedHost(db: Kysely<Tables>, key_id: string): Promise<HostName | null> {
  const { rows } = await sql<{ host: HostName | null }>`
    select host from api_key_uses where key_id = ${key_id}`.execute(db)
  return rows[0]?.host ?? null
}
