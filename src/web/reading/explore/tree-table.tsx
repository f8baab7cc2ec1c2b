/** The answer as a tree: rows of the first level, below an open row those of the next, and the totals always in sight. */
import { clsx } from 'clsx'
import { Inbox } from 'lucide-react'
import { type FocusEvent, type KeyboardEvent, useState } from 'react'
import { useToday } from '../../ground/figures/now.ts'
import { orderBy } from '../../ground/figures/columns.ts'
import { isFigure } from '../../../contract/figures.ts'
import { meansOf, useGoalWords } from '../../ground/figures/goals.ts'
import { useIsNarrow } from '../../ground/ui/narrow.ts'
import { Loaded, EmptyState, Waiting } from '../../ground/ui/page.tsx'
import { Head, RowHead, Table } from '../../ground/ui/table.tsx'
import { type Branch, Figure, NAME, BranchRows, type Tree as TreeOf, TreeContext, useBranch } from './branch.tsx'
import { CellMenu } from './cell-menu.tsx'
import type { Chosen } from './chosen.ts'
import { type Column, columnsOf, foldEmpty, onPhone, OWN } from './columns.ts'
import { FoldedColumns } from './folded-columns.tsx'
import { LeaveOutDialog } from './leave-out-dialog.tsx'
import type { Words } from './level-chips.tsx'
import type { Answer, Question } from './question.ts'
import { type Change, type ExploreSearch, levelsOf, onlyCampaign } from './search.ts'
import { Preparing } from './preparing.tsx'
import { moveBy, type TreeRow } from './tree.ts'
import { WordsBelow } from './words-below.tsx'

type TreeTableProps = {
  question: Question
  search: ExploreSearch
  isRunning: boolean
  words: Words
  /** A further note below the table. */
  note?: string | undefined
  onChange: Change
}

export function TreeTable({ question, search, isRunning, words, note, onChange }: TreeTableProps) {
  const [chosen, setChosen] = useState<Chosen>()
  const [leftOut, setLeftOut] = useState<Chosen>()
  const branch = useBranch(question, [])
  const levels = levelsOf(search)
  return (
    <>
      <Loaded query={{ ...branch, data: branch.data?.pages[0] }} waiting={<PreparingTable />}>
        {first =>
          first.rows.length === 0 ? (
            <EmptyState
              icon={Inbox}
              title="No clicks here"
              words={
                search.where === undefined && search.having === undefined
                  ? 'Clicks appear here the moment they are made. Choose other days, or send traffic to a campaign link.'
                  : 'Nothing in these days passes the filters. Remove one, or choose other days.'
              }
            />
          ) : (
            <>
              {branch.isPlaceholderData && <Preparing className="mb-2" />}
              <Tree
                branch={branch}
                first={first}
                {...{ question, levels, search, words, onChange }}
                onChoose={setChosen}
              />
              <WordsBelow
                answer={first}
                columns={columnsOf(search)}
                isRunning={isRunning}
                words={words(levels[0] ?? 'campaign')}
                note={note}
              />
            </>
          )
        }
      </Loaded>
      <CellMenu
        chosen={chosen}
        search={search}
        words={words}
        onChange={onChange}
        onClose={() => setChosen(undefined)}
        onLeaveOut={setLeftOut}
      />
      {leftOut !== undefined && (
        <LeaveOutDialog chosen={leftOut} search={search} onClose={() => setLeftOut(undefined)} />
      )}
    </>
  )
}

type TreeProps = Pick<TreeTableProps, 'question' | 'search' | 'words' | 'onChange'> &
  Pick<TreeOf, 'levels' | 'onChoose'> & { branch: Branch; first: Answer }

function Tree({ branch, first, question, levels, search, words, onChange, onChoose }: TreeProps) {
  const [showsAll, setShowsAll] = useState(false)
  const today = useToday()
  const isNarrow = useIsNarrow()
  const all = isNarrow ? onPhone(columnsOf(search)) : columnsOf(search)
  const rows = branch.data?.pages.flatMap(page => page.rows) ?? []
  const asked = [search.sort?.replace(/^-/, '') ?? '', ...(search.having ?? []).map(([measure]) => measure)]
  const befores = [first.totals, ...rows].flatMap(({ before }) => before ?? [])
  const { shown, folded } = foldEmpty(all, [first.totals, ...rows, ...befores], asked)
  const columns = showsAll ? all : shown
  const goal = useGoalWords(search.goal ?? 'own', onlyCampaign(search))
  const [top = '', ...below] = levels.map(words)
  return (
    <TreeContext value={treeOf({ question, levels, columns, search, today, onChange, onChoose }, first)}>
      <div
        // Only handles arrow keys between the rows, which are the focusable elements.
        role="presentation"
        onKeyDownCapture={moveAmongRows}
        onFocusCapture={keepPlace}
        className={clsx('transition-opacity', branch.isPlaceholderData && 'opacity-60')}
      >
        <Table
          caption={`Clicks by ${[top, ...below].join(' › ')}`}
          role="treegrid"
          className="max-h-[max(18rem,calc(100dvh-15rem))] [&_td:not(:last-child)]:px-2 [&_th:not(:first-child,:last-child)]:px-2"
        >
          <thead>
            <tr>
              <ColumnHead id="key" title={top} below={below} search={search} onChange={onChange} />
              {columns.map(column => (
                <ColumnHead key={column.id} {...headOf(column, goal)} numeric search={search} onChange={onChange} />
              ))}
            </tr>
          </thead>
          <tbody>
            <BranchRows branch={branch} path={[]} />
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
      <FoldedColumns folded={folded} isShown={showsAll} onShow={setShowsAll} />
    </TreeContext>
  )
}

const PreparingTable = () => (
  <>
    <Waiting className="h-96" />
    <Preparing />
  </>
)

const treeOf = (parts: Omit<TreeOf, 'clicks' | 'isEstimate'>, answer: Answer): TreeOf => ({
  ...parts,
  clicks: answer.totals.clicks ?? 0,
  isEstimate: answer.unique_visitors_is_estimate,
})

/** The heading of a column; figures of the goal name it. */
function headOf({ id, title, means }: Column, goal: string) {
  const said = isFigure(id) ? meansOf(id, goal) : means
  return { id, title, ...(said === undefined ? {} : { means: said }) }
}

type HeadProps = {
  id: string
  title: string
  means?: string
  numeric?: boolean
  /** The names of the levels below; hidden on a phone for lack of room. */
  below?: readonly string[]
  search: ExploreSearch
  onChange: Change
}

/** Custom columns cannot be sorted by, because the server sorts and does not know them. */
function ColumnHead({ id, title, means, numeric = false, below = [], search, onChange }: HeadProps) {
  const rest = {
    numeric,
    stay: !numeric,
    ...(numeric ? {} : { className: NAME }),
    ...(means === undefined ? {} : { title: means }),
  }
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

/** Moves the focus by arrow keys, before the row's menu button handles them. */
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

/** Makes the row that was focused last the one that Tab reaches. */
function keepPlace({ target, currentTarget }: FocusEvent<HTMLElement>) {
  const rows = rowsOf(currentTarget)
  if (!rows.includes(target as HTMLElement)) return
  for (const row of rows) row.tabIndex = row === target ? 0 : -1
}
