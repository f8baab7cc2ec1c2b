// The demo's rule: zones that cost more than three payouts without a conversion. It is off, so that the demo stays as it is.
import type { Transaction } from 'kysely'
import { newId } from '../src/contract/ids.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import type { Place } from './traffic.ts'

/** Inserts it, over all campaigns. */
export async function placeRule(
  trx: Transaction<Tables>,
  { org_id, founded }: { org_id: number; founded: number },
  places: readonly Place[],
): Promise<void> {
  const at = new Date(founded).toISOString()
  const definition = {
    over: { campaign_ids: places.map(({ campaign_id }) => campaign_id) },
    value_of: 'sub1',
    when: [
      { figure: 'cost', is: 'above', times_payout: 3 },
      { figure: 'conversions', is: 'below', value: '1' },
    ],
    window: { hours: 168, leave_out_newest_hours: 3 },
    at_least: { clicks: 30 },
    then: [{ type: 'leave_out' }],
    every: 60,
    at: null,
    back: { after_days: 14, share: 0.05 },
    stop_line: { clicks_percent: 20, objects: 50 },
  }
  await trx
    .insertInto('rules')
    .values({
      org_id,
      id: newId(founded),
      name: 'Zones that only cost',
      active: false,
      version: 1,
      definition: JSON.stringify(definition),
      zone: 'UTC',
      created_at: at,
      updated_at: at,
    })
    .execute()
}
