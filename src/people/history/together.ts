/**
 * Puts the rows of an act back by one write of their room, for the kinds of which a file changes thousands. Each row is judged and its call checked
 * like a single one; only the writing is done together.
 */
import type { Call } from '../../contract/endpoint.ts'
import type { HistoryKind } from '../../contract/history.ts'
import { toUuid } from '../../contract/ids.ts'
import type { Context } from '../../ground/room.ts'
import type * as spend from '../../money/ad-spend/api.ts'
import { recordSpendTogether } from '../../money/ad-spend/cells.ts'
import type * as leftOut from '../../traffic/left-out/api.ts'
import { changeLists } from '../../traffic/left-out/lists.ts'
import type * as api from './api.ts'
import type { checkedCall } from './perform.ts'
import type { Recorder } from './recorder.ts'
import type { StoredRow } from './rows.ts'
import { objectsOf } from './verdicts.ts'

type Checked = Pick<ReturnType<typeof checkedCall>, 'call'>
/** `context.db` is the transaction. */
type WriteTogether = (
  context: Context<typeof api.undoChange>,
  recorder: Recorder,
  rows: readonly StoredRow[],
  calls: readonly Checked[],
) => Promise<void>

type LetIn = Call<typeof leftOut.letIn>
type LeaveOut = Call<typeof leftOut.leaveOut>

export const WRITE_TOGETHER: Partial<Record<HistoryKind, WriteTogether>> = {
  async ad_spend(context, recorder, rows, calls) {
    const drafts = calls.map(({ call }) => call.body as spend.AdSpendDraft)
    await recorder.recordedIn(context)(
      () => objectsOf(rows),
      trx => recordSpendTogether({ ...context, trx }, drafts),
    )
  },

  async left_out(context, _recorder, _rows, calls) {
    const lettingIn = calls.filter(({ call }) => call.body === undefined).map(({ call }) => call as unknown as LetIn)
    const perField = Map.groupBy(lettingIn, ({ params, query }) => JSON.stringify([params.id, query.field]))
    for (const ofField of perField.values()) {
      const [{ params, query }] = ofField as [LetIn]
      const remove = { field: query.field, only: ofField.flatMap(one => one.query.value ?? []) }
      await changeLists(context, { campaign_ids: [toUuid(params.id) ?? ''], remove })
    }
    const leavingOut = calls.flatMap(({ call }) => (call.body === undefined ? [] : (call as unknown as LeaveOut)))
    for (const alike of groupsOfAlike(leavingOut)) {
      const [{ params, body }] = alike as [LeaveOut]
      const { field, values: _, ...details } = body
      const campaign_id = toUuid(params.id) ?? ''
      const add = alike.flatMap(one => one.body.values.map(value => ({ campaign_id, field, value })))
      await changeLists(context, { campaign_ids: [campaign_id], add, details })
    }
  },
}

/** The calls that differ in their values alone. */
const groupsOfAlike = (calls: readonly LeaveOut[]) =>
  Map.groupBy(calls, ({ params, body }) => JSON.stringify([params, { ...body, values: [] }])).values()
