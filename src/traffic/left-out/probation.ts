/** Lets a part of the visitors with a left-out value in again, to find out whether it has become better. */
import type { Kysely } from 'kysely'
import { inOneTransaction } from '../../ground/db/one-transaction.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Act, lockHistory, recordChanges } from '../../ground/history/record.ts'
import { announceChange } from '../campaigns/live.ts'
import { leftOutObject, leftOutSnapshot } from './history.ts'
import { LEFT_OUT_COLUMNS, type LeftOutRow, touchLists } from './lists.ts'

type LeftOutPlace = Pick<LeftOutRow, 'campaign_id' | 'field' | 'value'>
type ShareWriting = { readonly db: Kysely<Tables>; readonly org_id: number; readonly act: Act }

/** Lets this part of the visitors in (above 0 and below 1), or none of them (null). False if the value is not on the list, or it is so already. */
export async function setLetInShare(
  { db, org_id, act }: ShareWriting,
  place: LeftOutPlace,
  let_in_share: number | null,
): Promise<boolean> {
  const { campaign_id, field, value } = place
  return await inOneTransaction(db, async trx => {
    await lockHistory(trx, org_id, [leftOutObject(place)])
    await touchLists(trx, org_id, [campaign_id])
    const rows = () =>
      trx
        .selectFrom('left_out_values')
        .select(LEFT_OUT_COLUMNS)
        .where('org_id', '=', org_id)
        .where('campaign_id', '=', campaign_id)
        .where('field', '=', field)
        .where('value', '=', value)
        .$castTo<LeftOutRow>()
        .executeTakeFirst()
    const before = await rows()
    if (before === undefined || before.let_in_share === let_in_share) return false
    await trx
      .updateTable('left_out_values')
      .set({ let_in_share })
      .where('org_id', '=', org_id)
      .where('id', '=', before.id)
      .execute()
    const change = { before: leftOutSnapshot(before), after: leftOutSnapshot({ ...before, let_in_share }) }
    await recordChanges(trx, org_id, act, [{ ...leftOutObject(place), ...change }])
    await announceChange(trx, org_id, campaign_id)
    return true
  })
}
