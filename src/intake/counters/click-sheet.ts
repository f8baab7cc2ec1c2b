/**
 * The new and changed clicks of one transaction, gathered in memory and appended to `click_sheet` by one statement: the ids of new clicks, and the
 * state of each changed click before and after. reading/segments makes facts of them. The statement belongs to the transaction that stores or
 * changes the clicks: both are committed, or neither.
 */
import { newId } from '../../contract/ids.ts'
import type { Statement } from '../../ground/db/statement.ts'

/** The columns of a new click in which a few clicks differ from all others. */
type NewClick = { readonly id: string; readonly tracked: boolean; readonly bot_id: string | null }

/** The mutable columns of a click. Amounts are decimal strings; counts are null if its conversions were not counted by status. */
export type ClickState = {
  readonly stages: number
  readonly tracked: boolean
  readonly bot_id: string | null
  readonly revenue: string | null
  readonly cost_counts: boolean | null
  readonly approved: number | null
  readonly pending: number | null
  readonly rejected: number | null
  readonly revenue_pending: string | null
  /** By type, as text of `writeConversions`; null for none. */
  readonly conversions: string | null
}

/** The order of the fields of `click_change`, which has each before and after. Conversions are columns beside it. */
export const CLICK_STATE_FIELDS = [
  'stages',
  'tracked',
  'bot_id',
  'revenue',
  'cost_counts',
  'approved',
  'pending',
  'rejected',
  'revenue_pending',
] as const satisfies readonly (keyof ClickState)[]

/** For ordinary new clicks: plain ids cost the database less than half as much as composite values. */
const INSERT_BORN = 'insert into click_sheet (org_id, id, born) values ($1, $2::uuid, $3::uuid[])'
const INSERT = `insert into click_sheet (org_id, id, born, born_otherwise, changes, conversions_were, conversions)
  values ($1, $2::uuid, $3::uuid[], $4::click_born[], $5::click_change[], $6::text[], $7::text[])`
/** For several organizations, each with its arrays as text. */
const INSERT_EACH = `insert into click_sheet (org_id, id, born, born_otherwise, changes, conversions_were, conversions)
  select s.org_id, $1::uuid, s.born::uuid[], s.born_otherwise::click_born[], s.changes::click_change[], s.were::text[], s.conversions::text[]
  from unnest($2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    as s (org_id, born, born_otherwise, changes, were, conversions)`

const COLUMNS = ['born', 'otherwise', 'changes', 'were', 'conversions'] as const
/** The entries of each column, as the text of an array. */
type SheetRow = Record<(typeof COLUMNS)[number], string>

/** Gathers the clicks of one transaction, per organization. */
export class ClickSheet {
  readonly #rows = new Map<number, SheetRow>()

  /** Adds a new click. */
  addNew(org_id: number, { id, tracked, bot_id }: NewClick): void {
    const row = this.#rowOf(org_id)
    if (tracked && bot_id === null) row.born += `${row.born === '' ? '' : ','}${id}`
    else row.otherwise += `${row.otherwise === '' ? '' : ','}"(${id},${tracked ? 't' : 'f'},${bot_id ?? ''})"`
  }

  /** Adds a changed click, with its state before and after. */
  addChange(org_id: number, id: string, before: ClickState, after: ClickState): void {
    let fields = id
    for (const state of CLICK_STATE_FIELDS) fields += `,${before[state] ?? ''},${after[state] ?? ''}`
    this.#change(org_id, fields, before.conversions, after.conversions)
  }

  /** Adds a new click that has reached stages already: a change without a state before it. */
  addReached(org_id: number, { id, tracked, bot_id }: NewClick, stages: number): void {
    const now: Partial<ClickState> = { stages, tracked, bot_id }
    let fields = id
    for (const state of CLICK_STATE_FIELDS) fields += `,,${now[state] ?? ''}`
    this.#change(org_id, fields, null, null)
  }

  #change(org_id: number, fields: string, were: string | null, conversions: string | null): void {
    const row = this.#rowOf(org_id)
    const comma = row.changes === '' ? '' : ','
    row.changes += `${comma}"(${fields})"`
    row.were += `${comma}${quoted(were)}`
    row.conversions += `${comma}${quoted(conversions)}`
  }

  /** The statement that appends the rows, for the transaction that stores or changes the clicks; undefined if there are none. */
  statement(): Statement | undefined {
    const rows = [...this.#rows]
    const [first, ...others] = rows
    if (first === undefined) return undefined
    const [org_id, row] = first
    if (others.length === 0)
      return row.otherwise === '' && row.changes === ''
        ? { text: INSERT_BORN, values: [org_id, newId(), `{${row.born}}`] }
        : { text: INSERT, values: [org_id, newId(), ...COLUMNS.map(column => literal(row[column]))] }
    const columns = COLUMNS.map(column => rows.map(([, one]) => literal(one[column])))
    return { text: INSERT_EACH, values: [newId(), rows.map(([org]) => org), ...columns] }
  }

  #rowOf(org_id: number): SheetRow {
    let row = this.#rows.get(org_id)
    if (row === undefined) {
      row = { born: '', otherwise: '', changes: '', were: '', conversions: '' }
      this.#rows.set(org_id, row)
    }
    return row
  }
}

const literal = (list: string): string | null => (list === '' ? null : `{${list}}`)
const quoted = (text: string | null): string => (text === null ? 'NULL' : `"${text}"`)
