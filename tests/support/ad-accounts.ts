// Inserts ad accounts into the database directly, for tests that only need one to exist.
import { newId } from '../../src/contract/ids.ts'
import type { Database } from '../../src/ground/db/connect.ts'

type SeededAccount = {
  platform?: 'meta' | 'tiktok' | 'google'
  state?: 'active' | 'broken' | 'off'
  /** The event types it sends. */
  sends?: string[]
  settings?: object
  deleted_at?: string
}

/** Inserts an account that does not exist at its platform. Returns its id. */
export async function seedAdAccount({ kysely }: Database, org_id: number, seeded: SeededAccount = {}): Promise<string> {
  const { platform = 'meta', state = 'active', sends = ['lead'], settings = { pixel_id: '1' }, deleted_at } = seeded
  const id = newId()
  const now = new Date().toISOString()
  await kysely
    .insertInto('ad_accounts')
    .values({
      org_id,
      id,
      platform,
      name: 'Account',
      settings: JSON.stringify(settings),
      credential: Buffer.from('sealed'),
      credential_hint: '…',
      event_map: JSON.stringify(Object.fromEntries(sends.map(type => [type, { name: 'Lead' }]))),
      state,
      state_changed_at: now,
      created_at: now,
      updated_at: now,
      deleted_at: deleted_at ?? null,
    })
    .execute()
  return id
}
