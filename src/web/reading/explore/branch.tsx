/** The rows below a row, or those of the first level. An open row is followed by its own rows. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { clsx } from 'clsx'
import { ChevronRight } from 'lucide-react'
import { createContext, useContext } from 'react'
import { SPEND_KEY } from '../../../contract/explore.ts'
import type { ExploreDimension } from '../../../contract/explore-dimensions.ts'
import { call } from '../../ground/call.ts'
import { count, moneyOrNone, percent } from '../../ground/figures/figures.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { Cell, Row, RowHead } from '../../ground/ui/table.tsx'
import { explore } from '../../../reading/explore/api.ts'
import type { Chosen } from './chosen.ts'
import { type Column, differenceOf, type RowFigures, isSigned, needsCost, partOf, toneOf } from './columns.ts'
import { keyInWords } from './dimensions.ts'
import { type Answer, branchOf, type Question, type AnswerRow } from './question.ts'
import { tintOf } from './shades.ts'
import { byOpening, type Change, type ExploreSearch, isRowOpen, type Threshold } from './search.ts'

type Path = readonly (string | null)[]

export type Tree = {
  readonly question: Question
  readonly levels: readonly ExploreDimension[]
  readonly columns: readonly Column[]
  readonly search: ExploreSearch
  /** All clicks of the question; a row's bar is its share of them. */
  readonly clicks: number
  readonly isEstimate: boolean
  readonly today: string
  readonly onChange: Change
  readonly onChoose: (chosen: Chosen) => void
}

export const TreeContext = createContext<Tree | undefined>(undefined)

function useTree(): Tree {
  const tree = useContext(TreeContext)
  if (tree === undefined) throw new Error('a row stands outside of its tree')
  return tree
}

const shownOf = (pages: readonly Answer[]): number =>
  pages.reduce((all, { rows }) => all + rows.filter(row => !row.is_other && !isSpend(row)).length, 0)

/** Whether a row is the one of spend without clicks. */
const isSpend = ({ key }: Pick<AnswerRow, 'key'>): boolean => key === SPEND_KEY

/** Whether rows of the previous question may stay, faint, until those of the next arrive: they are of the same level and have all its measures. */
function canStand(before: unknown, { levels, measures = [] }: Question): boolean {
  const { levels: levelsBefore, measures: measuresBefore = [] } = before as Question
  return levels[0]?.dimension === levelsBefore[0]?.dimension && measures.every(one => measuresBefore.includes(one))
}

/** The rows below a row, page by page. */
export function useBranch(question: Question, path: Path, isAsked = true) {
  return useInfiniteQuery({
    enabled: isAsked,
    queryKey: [explore.route, question, path],
    queryFn: ({ pageParam }) => call(explore, { body: branchOf(question, path, pageParam) }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.rows.some(row => row.is_other) ? shownOf(pages) : undefined),
    placeholderData: (data, query) => (query !== undefined && canStand(query.queryKey[1], question) ? data : undefined),
  })
}

export type Branch = ReturnType<typeof useBranch>

export function BranchRows({ branch, path }: { branch: Branch; path: Path }) {
  const { levels, search } = useTree()
  const pages = branch.data?.pages ?? []
  const other = pages.at(-1)?.rows.find(row => row.is_other)
  const hasBelow = path.length + 1 < levels.length
  const rows = pages
    .flatMap(page => page.rows.filter(row => !row.is_other))
    .toSorted((one, other) => Number(isSpend(one)) - Number(isSpend(other)))
  return (
    <>
      {rows.map((row, at) => {
        const own = [...path, row.key]
        const open = hasBelow ? isRowOpen(search, own) : undefined
        return [
          <Line
            key={JSON.stringify(row.key)}
            row={row}
            siblings={rows}
            path={own}
            open={open}
            isFirst={path.length === 0 && at === 0}
          />,
          open === true && <Below key={`${JSON.stringify(row.key)} below`} path={own} />,
        ]
      })}
      {other !== undefined && <Other row={other} level={path.length + 1} branch={branch} />}
    </>
  )
}

/** The rows below an open row. */
function Below({ path }: { path: Path }) {
  const { question, columns } = useTree()
  const branch = useBranch(question, path)
  if (branch.data !== undefined) return <BranchRows branch={branch} path={path} />
  return (
    <Row>
      <td colSpan={columns.length + 1} className="h-8.5" style={{ paddingLeft: indent(path.length + 1) + 22 }}>
        {branch.error === null ? (
          <span className="text-ink-faint">Counting …</span>
        ) : (
          <RefusalNote refused={branch.error} className="my-1" />
        )}
      </td>
    </Row>
  )
}

/** Classes of the cells with names: narrow on a phone, so that figures fit beside them; elsewhere all the remaining room. */
export const NAME = 'w-full min-w-28 max-w-28 sm:max-w-none sm:min-w-48 lg:min-w-72'

const indent = (level: number): number => 10 + (level - 1) * 20

type LineProps = {
  row: AnswerRow
  siblings: readonly AnswerRow[]
  path: Path
  open: boolean | undefined
  isFirst: boolean
}

function Line({ row, siblings, path, open, isFirst }: LineProps) {
  const { levels, search, columns, clicks, today, onChange, onChoose } = useTree()
  const level = path.length
  const name = keyInWords(levels[level - 1] ?? 'campaign', row.key, row.label)
  const share = clicks === 0 ? 0 : (row.clicks ?? 0) / clicks
  return (
    <Row
      aria-level={level}
      aria-expanded={open}
      onContextMenu={event => {
        const anchor = event.currentTarget.querySelector<HTMLElement>('[data-row]')
        if (anchor === null || isSpend(row)) return
        event.preventDefault()
        onChoose({ path, name, anchor, siblings })
      }}
    >
      <RowHead stay className={clsx(NAME, 'whitespace-normal! py-1')} style={{ paddingLeft: indent(level) }}>
        <span className="flex items-center gap-0.5">
          {open === undefined ? (
            levels.length > 1 && <span className="w-5 shrink-0 pointer-coarse:w-8" />
          ) : (
            <button
              type="button"
              tabIndex={-1}
              aria-label={`${open ? 'Close' : 'Open'} ${name}`}
              data-toggle
              className="grid size-5 shrink-0 place-items-center rounded-sm text-ink-faint hover:bg-line/60 hover:text-ink pointer-coarse:size-8"
              onClick={() => onChange(byOpening(search, path))}
            >
              <ChevronRight aria-hidden className={clsx('size-3.5 transition-transform', open && 'rotate-90')} />
            </button>
          )}
          <button
            type="button"
            data-row={level}
            data-open={open}
            aria-haspopup={isSpend(row) ? undefined : 'menu'}
            tabIndex={isFirst ? 0 : -1}
            title={name}
            className={clsx(
              'min-w-0 rounded-sm px-1 text-left leading-5 wrap-anywhere underline-offset-2 hover:underline max-sm:line-clamp-3',
              (row.key === null || isSpend(row)) && 'font-normal text-ink-faint',
            )}
            onClick={event => isSpend(row) || onChoose({ path, name, anchor: event.currentTarget, siblings })}
          >
            {name}
            {levels[level - 1] === 'geo' && row.key !== null && !isSpend(row) && (
              <span className="font-normal text-ink-faint"> {row.key}</span>
            )}
            {levels[level - 1] === 'day' && row.key === today && (
              <span className="font-normal text-ink-faint"> so far</span>
            )}
          </button>
        </span>
        <span
          aria-hidden
          title={`${percent(share)} of the clicks`}
          className="absolute bottom-0 left-0 h-0.5 bg-chart-1/60"
          style={{ width: `${Math.min(1, share) * 100}%` }}
        />
      </RowHead>
      {columns.map(column => (
        <Figure key={column.id} column={column} row={row} />
      ))}
    </Row>
  )
}

function Other({ row, level, branch }: { row: AnswerRow; level: number; branch: Branch }) {
  const { columns, levels } = useTree()
  const more = row.count_of_other
  return (
    <Row aria-level={level}>
      <RowHead
        stay
        className="font-normal! text-ink-soft"
        style={{ paddingLeft: indent(level) + (levels.length > 1 ? 22 : 0) }}
      >
        <button
          type="button"
          data-row={level}
          tabIndex={-1}
          aria-busy={branch.isFetchingNextPage || undefined}
          className="rounded-sm px-1 underline-offset-2 hover:underline"
          onClick={() => void branch.fetchNextPage()}
        >
          {branch.isFetchingNextPage ? 'Counting …' : more === undefined ? 'other' : `other (${count(more)} more)`}
        </button>
      </RowHead>
      {columns.map(column => (
        <Figure key={column.id} column={column} row={row} />
      ))}
    </Row>
  )
}

type FigureProps = { column: Column; row: RowFigures & { before?: RowFigures | undefined }; isTotal?: boolean }

const partInWords = ({ clicks, revenue }: { clicks: number; revenue: string }): string =>
  `The cost of ${count(clicks)} clicks is not known. They earned ${moneyOrNone(revenue)}.`

const TINTS = { good: 'bg-good-soft!', bad: 'bg-bad-soft!' } as const

/** A figure of a row with its colour, and its change against the period before. */
export function Figure({ column, row, isTotal = false }: FigureProps) {
  const { search, isEstimate } = useTree()
  const part = needsCost(column) ? partOf(row) : undefined
  const isSaid = isSigned(column) && !(isTotal && part !== undefined)
  const value = column.number(row)
  const text = column.text(row)
  const difference = differenceOf(column, row, row.before)
  const colours: readonly Threshold[] = search.colours ?? []
  const tone = isTotal ? undefined : toneOf(column, row, colours)
  const isOwnColour = colours.some(([id]) => id === column.id)
  const isApproximate = isEstimate && column.id === 'unique_visitors' && value !== undefined
  return (
    <Cell
      numeric
      faint={value === undefined || value === 0}
      className={clsx(
        isSaid && value !== undefined && value !== 0 && (value > 0 ? 'text-good' : 'text-bad'),
        tone !== undefined && TINTS[tone],
      )}
      style={column.id === 'roi' && !isTotal && !isOwnColour ? tintOf(value) : undefined}
    >
      {isApproximate && '≈ '}
      {text}
      {part !== undefined && value !== undefined && (
        <abbr className="no-underline text-ink-faint" title={partInWords(part)}>
          *
        </abbr>
      )}
      {row.before !== undefined && (
        <span
          title={`Before: ${column.text(row.before)}`}
          className={clsx(
            '-mt-0.5 block min-h-4 text-xs font-normal',
            difference?.tone === 1 ? 'text-good' : difference?.tone === -1 ? 'text-bad' : 'text-ink-faint',
          )}
        >
          {difference?.words}
        </span>
      )}
    </Cell>
  )
}
