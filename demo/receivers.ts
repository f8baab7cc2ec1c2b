// The demo's receiver of alerts. It is told by rules that name it alone, and none does, so the demo mails nobody.
import type { Transaction } from 'kysely'
import { newId } from '../src/contract/ids.ts'
import type { Tables } from '../src/ground/db/tables.ts'

export async function insertReceiver(
  trx: Transaction<Tables>,
  { org_id, founded }: { org_id: number; founded: number },
): Promise<void> {
  const at = new Date(founded).toISOString()
  await trx
    .insertInto('receivers')
    .values({
      org_id,
      id: newId(founded),
      type: 'mail',
      name: 'Media buyers (made up)',
      email: 'buyers@example.com',
      about: [],
      quiet_hours: JSON.stringify({ from: '22:00', to: '07:00', time_zone: 'Europe/Berlin' }),
      created_at: at,
      updated_at: at,
    })
    .execute()
}
