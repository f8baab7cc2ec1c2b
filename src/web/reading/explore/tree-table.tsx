/** The answer as a tree that opens in place: rows of the first level, in an open one those of the next, and the totals always in sight. */
import { clsx } from 'clsx'
import { Inbox } from 'lucide-react'
import { type FocusEvent, type KeyboardEvent, useState } from 'react'
import { orderBy } from '../../ground/figures/columns.ts'
import { Asked, EmptyState, Waiting } from '../../ground/ui/page.tsx'
import { Head, RowHead, Table } from '../../ground/ui/table.tsx'
import { Figure, Rows, type Tree, TreeContext, useBranch } from './branch.tsx'
import { CellMenu, type Chosen } from './cell-menu.tsx'
import { type Column, columnsOf, OWN } from './columns.ts'
import type { Words } from './level-chips.tsx'
import type { Answer, Question } from './question.ts'
import { type Change, type ExploreSearch, levelsOf } from './search.ts'
import { Preparing } from './preparing.tsx'
import { moveBy, type TreeRow } from './tree.ts'
import { WordsBelow } from './words-below.tsx'

type TreeTableProps = { question: Question; search: ExploreSearch; isRunning: boolean; words: Words; onChange: Change }

export function TreeTable({ question, search, isRunning, words, onChange }: TreeTableProps) {
  const [chosen, setChosen] = useState<Chosen>()
  const branch = useBranch(question, [])
  const levels = levelsOf(search)
  const columns = columnsOf(search)
  const [top = '', ...below] = levels.map(words)
  const title = [top, ...below].join(' › ')
  return (
    <>
      <Asked query={{ ...branch, data: branch.data?.pages[0] }} waiting={<PreparingTable />}>
        {first =>
          first.rows.length === 0 ? (
            <EmptyState
              icon={Inbox}
              title="No clicks here"
              words={
                search.where === undefined
                  ? 'Clicks appear here the moment they are made. Choose other days, or send traffic to a campaign’s address.'
                  : 'Nothing in these days passes the filters. Take one away, or choose other days.'
              }
            />
          ) : (
            <TreeContext value={treeOf({ question, levels, columns, search, onChange, onChoose: setChosen }, first)}>
              {branch.isPlaceholderData && <Preparing className="mb-2" />}
              <div
                // The keys of a tree move within the table, whose rows are what is pressed.
                role="presentation"
                onKeyDownCapture={moveAmongRows}
                onFocusCapture={keepPlace}
                className={clsx('transition-opacity', branch.isPlaceholderData && 'opacity-60')}
              >
                <Table
                  caption={`Clicks by ${title}`}
                  role="treegrid"
                  className="max-h-[max(18rem,calc(100dvh-15rem))] [&_td:not(:last-child)]:px-2 [&_th:not(:first-child,:last-child)]:px-2"
                >
                  <thead>
                    <tr>
                      <ColumnHead id="key" title={top} below={below} search={search} onChange={onChange} />
                      {columns.map(column => (
                        <ColumnHead key={column.id} {...headOf(column)} numeric search={search} onChange={onChange} />
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    <Rows branch={branch} path={[]} />
                  </tbody>
                  <tfoot className="sticky bottom-0 z-10">
                    <tr className="font-semibold [&>*]:border-t [&>*]:border-line-strong/50 [&>*]:bg-sunken">
                      <RowHead stay className="bg-sunken! font-semibold!">
                        Total
                      </RowHead>
                      {columns.map(column => (
                        <Figure key={column.id} column={column} row={first.totals} isTotal />
                      ))}
                    </tr>
                  </tfoot>
                </Table>
              </div>
              <WordsBelow
                answer={first}
                columns={columns}
                isRunning={isRunning}
                words={words(levels[0] ?? 'campaign')}
              />
            </TreeContext>
          )
        }
      </Asked>
      <CellMenu
        chosen={chosen}
        search={search}
        words={words}
        onChange={onChange}
        onClose={() => setChosen(undefined)}
      />
    </>
  )
}

const PreparingTable = () => (
  <>
    <Waiting className="h-96" />
    <Preparing />
  </>
)

const treeOf = (parts: Omit<Tree, 'clicks' | 'isEstimate'>, answer: Answer): Tree => ({
  ...parts,
  clicks: answer.totals.clicks ?? 0,
  isEstimate: answer.unique_visitors_is_estimate,
})

const headOf = ({ id, title, means }: Column) => ({ id, title, ...(means === undefined ? {} : { means }) })

type HeadProps = {
  id: string
  title: string
  means?: string
  numeric?: boolean
  /** What the levels below are called: on a phone there is no room for it. */
  below?: readonly string[]
  search: ExploreSearch
  onChange: Change
}

/** The server sorts, all rows and not only those shown, so a figure of one's own is no order. */
function ColumnHead({ id, title, means, numeric = false, below = [], search, onChange }: HeadProps) {
  const rest = { numeric, stay: !numeric, ...(means === undefined ? {} : { title: means }) }
  if (id.startsWith(OWN)) return <Head {...rest}>{title}</Head>
  const { now, next } = orderBy(id, search.sort)
  return (
    <Head {...rest} sort={{ now, onSort: () => onChange({ sort: next }) }}>
      {title}
      {below.length > 0 && <span className="max-sm:sr-only">{below.map(one => ` › ${one}`)}</span>}
    </Head>
  )
}

const rowsOf = (table: Element): HTMLElement[] => [...table.querySelectorAll<HTMLElement>('[data-row]')]

const placeOf = ({ dataset }: HTMLElement): TreeRow => ({
  level: Number(dataset['row']),
  isOpen: dataset['open'] === undefined ? undefined : dataset['open'] === 'true',
})

/** Arrows go from row to row, before the menu that such a button opens takes them for its own. */
function moveAmongRows(event: KeyboardEvent<HTMLElement>) {
  if (event.altKey || event.ctrlKey || event.metaKey || !(event.target instanceof HTMLElement)) return
  const rows = rowsOf(event.currentTarget)
  const at = rows.indexOf(event.target)
  if (at < 0) return
  const move = moveBy(event.key, rows.map(placeOf), at)
  if (move === undefined) return
  event.preventDefault()
  event.stopPropagation()
  if (move === 'toggle') event.target.closest('tr')?.querySelector<HTMLElement>('[data-toggle]')?.click()
  else rows[move.to]?.focus()
}

/** Of all rows Tab comes to the one that was looked at last. */
function keepPlace({ target, currentTarget }: FocusEvent<HTMLElement>) {
  const rows = rowsOf(currentTarget)
  if (!rows.includes(target as HTMLElement)) return
  for (const row of rows) row.tabIndex = row === target ? 0 : -1
}
