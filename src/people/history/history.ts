/** The history of a workspace: the list of changes, and its file. Rows are written by ground/history, undo.ts puts them back. */
import type { Call } from '../../contract/endpoint.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { parseMoment } from '../../contract/moments.ts'
import { refuse } from '../../contract/refusals.ts'
import { type RawParameter, singleValue } from '../../contract/window.ts'
import { newestFirstFile } from '../../ground/db/list-file.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Context, Ground, Member } from '../../ground/room.ts'
import * as api from './api.ts'
import { type RoleFor, type StoredRow, visibleRows } from './rows.ts'
import type { UndoVerdicts } from './verdicts.ts'

type Filters = Call<typeof api.exportHistory>['query']

/** The deeds that read the history. `verdicts` tells whether rows can be put back. */
export function historyDeeds(roleFor: RoleFor, verdicts: UndoVerdicts) {
  return {
    async listHistory(context: Context<typeof api.listHistory>, { query }: Call<typeof api.listHistory>) {
      const { data, next_cursor } = await newestFirst(filtered(context, query, roleFor), query, 'h.id')
      return { data: await verdicts.describe(context, data), next_cursor }
    },

    /** Refuses `invalid_window`, and `too_many_lines` before the file begins. */
    async exportHistory(context: Context<typeof api.exportHistory>, { query }: Call<typeof api.exportHistory>) {
      const shown = (rows: StoredRow[]) => rows.map(row => ({ ...row, cannot_undo: verdicts.lasting(row) }))
      return await newestFirstFile(api.HistoryRow, filtered(context, query, roleFor), shown, 'h.id')
    },
  }
}

type Rows = ReturnType<typeof visibleRows>

function filtered(
  { db, actor }: Pick<Ground, 'db'> & { readonly actor: Member },
  { kind, id, actor: by, act, from, to }: Filters,
  roleFor: RoleFor,
): Rows {
  let rows = visibleRows(db, actor, roleFor)
  if (kind !== undefined) rows = rows.where('h.kind', '=', kind)
  if (id !== undefined) rows = rows.where('h.object_id', '=', id)
  if (by === 'sluice') rows = rows.where('h.actor_kind', '=', 'sluice')
  else if (by !== undefined) rows = rows.where('h.actor_id', '=', by)
  if (act !== undefined) rows = rows.where('h.act_id', '=', act)
  const [first, last] = [boundOf(from, 'from'), boundOf(to, 'to')]
  if (first !== undefined && last !== undefined && last < first)
    refuse('invalid_window', { error: 'invalid window: to is before from', hint: WINDOW_HINT })
  if (first !== undefined) rows = rows.where('h.id', '>=', firstIdAt(first))
  if (last !== undefined) rows = rows.where('h.id', '<', firstIdAt(last + 1))
  return rows
}

const WINDOW_HINT = 'Send from and to as ISO 8601, to not before from.'

/** A bound in Unix milliseconds. Rows have milliseconds, so a finer start begins with the next one. */
function boundOf(sent: RawParameter, name: 'from' | 'to'): number | undefined {
  const text = singleValue(sent, name, 'invalid_window')
  if (text === undefined) return undefined
  const moment = parseMoment(text)
  if (moment === undefined)
    refuse('invalid_window', { error: `invalid window: ${name} is not a date in ISO 8601`, hint: WINDOW_HINT })
  return Math.max(0, name === 'from' && moment.finer !== '' ? moment.ms + 1 : moment.ms)
}
