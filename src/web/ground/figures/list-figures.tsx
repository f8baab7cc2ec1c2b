/** Figures in the rows of a list: revenue, clicks, CR and EPC of the days in its address, sortable, with a total. */
import type { ReactNode } from 'react'
import { headOf } from '../../../contract/figures.ts'
import { meansOf, useGoalWords } from './goals.ts'
import { type ActsProps, WithActs } from '../many/act-bar.tsx'
import { TagChoice } from '../many/tag-dots.tsx'
import { SelectPage } from '../many/selection.tsx'
import type { ListAddress } from '../ui/list.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../ui/table.tsx'
import { type FigureLine, lineOf, orderBy, sorted } from './columns.ts'
import { count, moneyOrNone, NONE, percent, perUnit } from './figures.ts'
import { counting, NO_CLICKS, sumOf, type Totals } from './measures.ts'
import { useToday } from './now.ts'
import type { FiguresSearch, Goal } from './search.ts'
import { daysOf } from './window.ts'
import { DaysChoice, GoalChoice } from './window-controls.tsx'

/** The most rows a page may have, so that most lists fit on one page and can be sorted. */
const MOST = 200

type FiguresAddressSearch = FiguresSearch & {
  cursor?: string | undefined
  q?: string | undefined
  status?: string | undefined
  tag?: string | undefined
}

/** Splits the address of a list with figures into the search for rows and the choice of figures. */
export function useListFigures<S extends FiguresAddressSearch>(address: ListAddress<S>) {
  const { range, from, to, goal, pending, sort, ...sought } = address.search
  const { tag, ...rest } = sought
  const today = useToday()
  const days = daysOf({ range, from, to }, today)
  // The rows do not change with the figures, so the page of the list stays.
  const choose = (changes: FiguresSearch) => address.narrow({ ...changes, cursor: sought.cursor } as Partial<S>)
  return {
    days,
    /** Without the choice of figures, which selects no rows. */
    address: { ...address, search: sought },
    query: { ...rest, tag_id: tag, limit: MOST },
    sorting: {
      goal: goal ?? ('own' as const),
      pending,
      sort,
      onSort: (next: string | undefined) => choose({ sort: next }),
    },
    controls: (
      <>
        <TagChoice value={tag} onChange={chosen => address.narrow({ tag: chosen } as Partial<S>)} />
        <GoalChoice goal={goal} pending={pending} onChange={choose} />
        <DaysChoice search={{ range, from, to }} days={days} today={today} onChange={choose} />
      </>
    ),
  }
}

/** The figures by id. `missing` says what a row without figures means: all zero, none, or unknown. */
export type ListFigures = { rows: readonly (Totals & { key: string })[]; missing: 'zero' | 'none' | 'unknown' }

/** While the figures load. */
export const NO_FIGURES: ListFigures = { rows: [], missing: 'unknown' }

type FiguredTableProps<T> = {
  caption: string
  rows: readonly T[]
  figures: ListFigures
  sorting: {
    goal: Goal
    pending: boolean | undefined
    sort: string | undefined
    onSort: (sort: string | undefined) => void
  }
  /** Whether all rows are on this page. Otherwise they cannot be sorted, because only one page would be. */
  isWhole: boolean
  /** The headings of the columns after the figures. */
  heads: readonly ReactNode[]
  /** What can be done with several rows at once. */
  many?: Many
  children: (row: T, figures: ReactNode) => ReactNode
}

type Many = Pick<ActsProps, 'endpoint' | 'what' | 'acts'> & { query: object }

const SHOWN = ['revenue', 'clicks', 'cr', 'epc'] as const

/** The table of a list: name, figures, then the cells that `children` adds. */
export function FiguredTable<T extends { id: string }>(props: FiguredTableProps<T>) {
  const { caption, rows, figures, sorting, isWhole, heads, many, children } = props
  const { goal, pending, sort, onSort } = sorting
  const known = new Map(figures.rows.map(row => [row.key, counting(row, pending)]))
  const lines = rows.map(one => ({
    one,
    ...lineOf(known.get(one.id) ?? NO_CLICKS, goal),
    isUnknown: !known.has(one.id) && figures.missing !== 'zero',
  }))
  const words = useGoalWords(goal)
  const table = (
    <Table caption={caption}>
      <thead>
        <tr>
          <Head stay>
            <SelectPage />
            Name
          </Head>
          {SHOWN.map(id => {
            const { now, next } = orderBy(id, sort)
            return (
              <Head
                key={id}
                numeric
                className="min-w-18"
                title={meansOf(id, words)}
                {...(isWhole ? { sort: { now, onSort: () => onSort(next) } } : {})}
              >
                {headOf(id)}
              </Head>
            )
          })}
          {heads}
          <ActionHead />
        </tr>
      </thead>
      <tbody>
        {sorted(lines, isWhole ? sort : undefined).map(({ one, ...line }) =>
          children(one, <FigureCells line={line.isUnknown ? undefined : line} />),
        )}
      </tbody>
      {rows.length > 1 && (
        <tfoot className="[&_:is(td,th)]:border-t [&_:is(td,th)]:border-line [&_:is(td,th)]:font-medium">
          <Row>
            <RowHead stay>{isWhole ? 'Total' : 'Total of this page'}</RowHead>
            <FigureCells
              line={figures.missing === 'unknown' ? undefined : lineOf(sumOf(lines.map(({ row }) => row)), goal)}
            />
            <Cell colSpan={heads.length} />
            <ActionCell>{null}</ActionCell>
          </Row>
        </tfoot>
      )}
    </Table>
  )
  if (many === undefined) return table
  const { query, ...acts } = many
  const filter = Object.fromEntries(Object.entries(query).filter(([name]) => name !== 'limit' && name !== 'cursor'))
  return (
    <WithActs {...acts} filter={filter} hasMore={!isWhole}>
      {table}
    </WithActs>
  )
}

function FigureCells({ line }: { line: FigureLine | undefined }) {
  const figures =
    line === undefined
      ? [NONE, NONE, NONE, NONE]
      : [moneyOrNone(line.row.revenue), count(line.row.clicks), percent(line.measures.cr), perUnit(line.measures.epc)]
  return SHOWN.map((id, at) => (
    <Cell key={id} numeric faint={figures[at] === NONE}>
      {figures[at]}
    </Cell>
  ))
}
