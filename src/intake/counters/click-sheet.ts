/**
 * What a transaction says of its clicks, gathered in memory and appended by one statement to `click_sheet`, of which reading/segments makes
 * facts: which clicks are new, and of each that changes how it was and how it is. It belongs to the transaction that stores or changes the
 * clicks: both are committed, or neither.
 */
import { newId } from '../../contract/ids.ts'
import type { Statement } from '../../ground/db/statement.ts'

/** A new click as far as it is not what nearly all are. */
type Born = { readonly id: string; readonly tracked: boolean; readonly bot_id: string | null }

/** What of a click changes. Amounts are decimal strings; null where none of its conversions was counted so. */
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
  /** By type, as `writeConversions` says it; null for none. */
  readonly conversions: string | null
}

/** In the order of `click_change`, where each follows how it was; conversions stand beside it. */
export const STATES = [
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

/** New clicks as they nearly all are: plain ids cost the database less than half of what composite values do. */
const INSERT_BORN = 'insert into click_sheet (org_id, id, born) values ($1, $2::uuid, $3::uuid[])'
const INSERT = `insert into click_sheet (org_id, id, born, born_otherwise, changes, conversions_were, conversions)
  values ($1, $2::uuid, $3::uuid[], $4::click_born[], $5::click_change[], $6::text[], $7::text[])`
/** Of several organizations, each with its arrays as text. */
const INSERT_EACH = `insert into click_sheet (org_id, id, born, born_otherwise, changes, conversions_were, conversions)
  select s.org_id, $1::uuid, s.born::uuid[], s.born_otherwise::click_born[], s.changes::click_change[], s.were::text[], s.conversions::text[]
  from unnest($2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    as s (org_id, born, born_otherwise, changes, were, conversions)`

const COLUMNS = ['born', 'otherwise', 'changes', 'were', 'conversions'] as const
/** Each column's entries, as an array's text has them. */
type Page = Record<(typeof COLUMNS)[number], string>

/** Lists the clicks of one transaction, per organization. */
export class ClickSheet {
  readonly #pages = new Map<number, Page>()

  /** A click that is stored. */
  bear(org_id: number, { id, tracked, bot_id }: Born): void {
    const page = this.#pageOf(org_id)
    if (tracked && bot_id === null) page.born += `${page.born === '' ? '' : ','}${id}`
    else page.otherwise += `${page.otherwise === '' ? '' : ','}"(${id},${tracked ? 't' : 'f'},${bot_id ?? ''})"`
  }

  /** A click that is changed, as it was and as it is. */
  change(org_id: number, id: string, was: ClickState, is: ClickState): void {
    const page = this.#pageOf(org_id)
    let fields = id
    for (const state of STATES) fields += `,${was[state] ?? ''},${is[state] ?? ''}`
    const comma = page.changes === '' ? '' : ','
    page.changes += `${comma}"(${fields})"`
    page.were += `${comma}${quoted(was.conversions)}`
    page.conversions += `${comma}${quoted(is.conversions)}`
  }

  /** The statement that appends it, to be run in the transaction that stores or changes the clicks; undefined where there are none. */
  statement(): Statement | undefined {
    const pages = [...this.#pages]
    const [first, ...others] = pages
    if (first === undefined) return undefined
    const [org_id, page] = first
    if (others.length === 0)
      return page.otherwise === '' && page.changes === ''
        ? { text: INSERT_BORN, values: [org_id, newId(), `{${page.born}}`] }
        : { text: INSERT, values: [org_id, newId(), ...COLUMNS.map(column => literal(page[column]))] }
    const columns = COLUMNS.map(column => pages.map(([, one]) => literal(one[column])))
    return { text: INSERT_EACH, values: [newId(), pages.map(([org]) => org), ...columns] }
  }

  #pageOf(org_id: number): Page {
    let page = this.#pages.get(org_id)
    if (page === undefined) {
      page = { born: '', otherwise: '', changes: '', were: '', conversions: '' }
      this.#pages.set(org_id, page)
    }
    return page
  }
}

const literal = (list: string): string | null => (list === '' ? null : `{${list}}`)
const quoted = (text: string | null): string => (text === null ? 'NULL' : `"${text}"`)
