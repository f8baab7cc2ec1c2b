/** The campaigns with the highest and lowest profit in the window, or the zones of one campaign. Figures are those of the Report, which asks the same route. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { clsx } from 'clsx'
import { MINUTE_MS } from '../../../contract/days.ts'
import { SPEND_KEY } from '../../../contract/explore.ts'
import { SUBS, type Sub } from '../../../contract/fields.ts'
import { explore } from '../../../reading/explore/api.ts'
import { call } from '../../ground/call.ts'
import { count, moneyOrNone } from '../../ground/figures/figures.ts'
import type { OverviewSearch } from '../../ground/figures/search.ts'
import { boundsOf, type Days } from '../../ground/figures/window.ts'
import { Loaded, Section, Waiting } from '../../ground/ui/page.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { type Column, columnsOf, needsCost, partOf } from '../explore/columns.ts'
import { DIMENSION_WORDS } from '../explore/dimensions.ts'
import { useSourceNames } from '../explore/names.ts'
import { presetsOf } from '../explore/presets.ts'
import type { Question, AnswerRow } from '../explore/question.ts'
import type { ExploreSearch, Filter } from '../explore/search.ts'

const MOST = 5
const MEASURES = ['clicks', 'revenue', 'cost', 'profit', 'roi'] as const
const COLUMNS = columnsOf({ columns: MEASURES.join() })
/** Hidden on a phone. */
const isWide = (id: string): boolean => id === 'revenue' || id === 'cost'

type Level = { readonly dimension: 'campaign' | Sub; readonly words: string; readonly many: string }

/** The zones of a campaign are the sub that its source calls so, as in the Report; else sub1, by which spend is booked. */
function useLevel(campaign: string | undefined): Level {
  const namesOver = useSourceNames()
  if (campaign === undefined) return { dimension: 'campaign', words: 'Campaign', many: 'campaigns' }
  const names = namesOver([['campaign', 'is', campaign]])
  const zones = presetsOf(names).find(({ title }) => title === 'Zones')?.dimension
  const dimension = SUBS.find(sub => sub === zones) ?? 'sub1'
  return { dimension, words: names[0]?.[dimension] ?? DIMENSION_WORDS[dimension], many: 'zones' }
}

const useRows = (question: Question) =>
  useQuery({
    queryKey: [explore.route, question],
    queryFn: () => call(explore, { body: question }),
    placeholderData: keepPreviousData,
    refetchInterval: MINUTE_MS,
  })

/** Rows with a known profit, without the row of spend without clicks. */
const withProfit = (rows: readonly AnswerRow[]): AnswerRow[] =>
  rows.filter(({ key, is_other, profit }) => !is_other && key !== SPEND_KEY && profit != null)

const isLoss = ({ profit }: AnswerRow): boolean => Number(profit) < 0

type BestAndWorstProps = { search: OverviewSearch; days: Days }

export function BestAndWorst({ search, days }: BestAndWorstProps) {
  const { campaign } = search
  const level = useLevel(campaign)
  const ask = (descending: boolean): Question => ({
    ...boundsOf(days),
    levels: [{ dimension: level.dimension, top: MOST }],
    ...(campaign !== undefined && { filters: [{ dimension: 'campaign', op: 'is', values: [campaign] }] }),
    sort: { by: 'profit', descending },
    measures: [...MEASURES],
  })
  const [best, worst] = [useRows(ask(true)), useRows(ask(false))]
  const bestRows = withProfit(best.data?.rows ?? [])
  const worstRows = withProfit(worst.data?.rows ?? [])
  // With few rows some are in both answers: a loss is listed among the worst, every other row among the best.
  const isAmong = (rows: readonly AnswerRow[], { key }: AnswerRow) => rows.some(row => row.key === key)
  const gains = bestRows.filter(row => !(isLoss(row) && isAmong(worstRows, row)))
  const losses = worstRows.filter(row => isLoss(row) || !isAmong(bestRows, row))
  const lists = [
    ['Best by profit', best, gains, `No ${level.many} with a known profit in these days.`],
    ['Worst by profit', worst, losses, `No ${level.many} lost money in these days.`],
  ] as const
  return (
    <div className="grid gap-x-6 xl:grid-cols-2">
      {lists.map(([title, query, rows, nothing]) => (
        <Section key={title} title={title} className="mb-8 min-w-0">
          <Loaded query={{ ...query, data: query.data && rows }} waiting={<Waiting className="h-48" />}>
            {found =>
              found.length === 0 ? (
                <p className="text-ink-soft">{nothing}</p>
              ) : (
                <Rows caption={title} level={level} rows={found} search={search} />
              )
            }
          </Loaded>
        </Section>
      ))}
    </div>
  )
}

type RowsProps = { caption: string; level: Level; rows: readonly AnswerRow[]; search: OverviewSearch }

function Rows({ caption, level, rows, search }: RowsProps) {
  return (
    <Table caption={caption} className="[&_td]:px-2! [&_th:not(:first-child)]:px-2!">
      <thead>
        <tr>
          <Head stay>{level.words}</Head>
          {COLUMNS.map(({ id, title }) => (
            <Head key={id} numeric className={clsx(isWide(id) && 'max-sm:hidden')}>
              {title}
            </Head>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <Row key={JSON.stringify(row.key)}>
            <RowHead stay className="w-full min-w-28 py-1 leading-5 whitespace-normal! wrap-anywhere">
              <Link
                to="/report"
                search={reportOf(level, row, search)}
                className="line-clamp-2 underline-offset-2 hover:text-accent hover:underline"
                title={row.label}
              >
                {row.label}
              </Link>
            </RowHead>
            {COLUMNS.map(column => (
              <Figure key={column.id} column={column} row={row} />
            ))}
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

function Figure({ column, row }: { column: Column; row: AnswerRow }) {
  const part = needsCost(column) ? partOf(row) : undefined
  return (
    <Cell
      numeric
      title={part && `The cost of ${count(part.clicks)} clicks is not known; they earned $${moneyOrNone(part.revenue)}`}
      className={clsx(
        isWide(column.id) && 'max-sm:hidden',
        column.id === 'profit' && ['font-medium', isLoss(row) ? 'text-bad' : 'text-good'],
      )}
    >
      {column.text(row)}
      {part !== undefined && '*'}
    </Cell>
  )
}

/** The address of the row in the Report, over the same days. */
function reportOf(
  { dimension }: Level,
  { key }: AnswerRow,
  { range, from, to, campaign }: OverviewSearch,
): ExploreSearch {
  const own: Filter = key === null ? [dimension, 'is_empty'] : [dimension, 'is', key]
  const within: readonly Filter[] = campaign === undefined ? [] : [['campaign', 'is', campaign]]
  return { range, from, to, ...(dimension !== 'campaign' && { by: dimension }), where: [...within, own] }
}
