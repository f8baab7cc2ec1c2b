/** The Report: clicks broken down by levels, in a window and under filters. The address holds the question. */
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { WIDEST_EXPLORE_DAYS } from '../../../contract/explore.ts'
import { EVENT_TYPES } from '../../../contract/event-types.ts'
import { useToday } from '../../ground/figures/now.ts'
import { boundsOf, daysOf, includesToday } from '../../ground/figures/window.ts'
import { GoalChoice, LongDaysChoice } from '../../ground/figures/window-controls.tsx'
import { PageHeader } from '../../ground/ui/page.tsx'
import { zoneNow } from '../../ground/zone.ts'
import { useBranch } from './branch.tsx'
import { useChosenColumns, useTypesOf } from './chosen-columns.ts'
import { CostSource } from './cost-source.tsx'
import { FactsLink } from './facts-link.tsx'
import { FigureFilters } from './figure-filters.tsx'
import { FilterChips } from './filter-chips.tsx'
import { HeatMap } from './heat-map.tsx'
import { LevelChips } from './level-chips.tsx'
import { screenOf } from './kept.ts'
import { MixedGoals } from './mixed-goals.tsx'
import { useSourceNames, wordsOver } from './names.ts'
import { PresetBar } from './preset-bar.tsx'
import { presetsOf } from './presets.ts'
import { questionOf } from './question.ts'
import { useReportingCurrency } from './report-currency.tsx'
import { byLevels, type Change, type ExploreSearch, levelsOf, onlyCampaign } from './search.ts'
import { Switches } from './switches.tsx'
import { Tools } from './tools.tsx'
import { TreeTable } from './tree-table.tsx'
import { ViewsMenu } from './views-menu.tsx'

const route = getRouteApi('/inside/report')

/** Changes of these add a history entry, so that Back undoes them; all others replace the address. */
const ASKS: readonly (keyof ExploreSearch)[] = [
  'by',
  'where',
  'having',
  'range',
  'from',
  'to',
  'goal',
  'pending',
  'view',
]

export function ReportPage() {
  const address = route.useSearch()
  const navigate = useNavigate({ from: '/report' })
  const change: Change = changes =>
    void navigate({
      search: before => ({ ...before, ...changes }),
      replace: !ASKS.some(key => key in changes),
      resetScroll: false,
    })
  const { complete } = useChosenColumns()
  const search = complete(address)
  const today = useToday()
  const days = daysOf(search, today, WIDEST_EXPLORE_DAYS)
  const { where = [] } = search
  const names = useSourceNames()(where)
  const words = wordsOver(where, names)
  const question = questionOf(search, boundsOf(days), zoneNow())
  const campaign = onlyCampaign(search)
  const shown = useReportingCurrency(question)
  const isHours = search.view === 'hours'
  const types = useTypesOf(useBranch(shown.question, [], !isHours).data?.pages[0]?.event_types)
  return (
    <>
      <PageHeader title="Report" words={`Counted on the day of the click (${zoneNow()}).`}>
        <ViewsMenu
          question={question}
          screen={search}
          isBare={Object.values(address).every(value => value === undefined)}
          complete={complete}
          onOpen={(view, isStart) => void navigate({ search: screenOf(view, address), replace: isStart })}
        />
        <LongDaysChoice search={search} days={days} today={today} widest={WIDEST_EXPLORE_DAYS} onChange={change} />
        <GoalChoice
          goal={search.goal}
          pending={search.pending}
          isOfEvents
          {...(campaign === undefined ? {} : { campaign })}
          onChange={changes =>
            change(
              'goal' in changes
                ? { goal: EVENT_TYPES.find(one => one === changes.goal) }
                : { pending: changes.pending },
            )
          }
        />
      </PageHeader>
      <PresetBar presets={presetsOf(names)} search={search} words={words} onChange={change}>
        {!isHours && <Switches search={search} onChange={change} />}
      </PresetBar>
      <div className="mb-3 flex flex-wrap items-end gap-x-4 gap-y-2">
        <div className="flex min-w-0 flex-1 basis-80 flex-col gap-1.5">
          {!isHours && (
            <LevelChips levels={levelsOf(search)} words={words} onChange={next => change(byLevels(next, search))} />
          )}
          <FilterChips
            filters={where}
            words={words}
            window={boundsOf(days)}
            onChange={next => change({ where: next.length === 0 ? undefined : [...next] })}
          >
            {!isHours && (
              <FigureFilters
                having={search.having ?? []}
                types={types}
                onChange={next => change({ having: next.length === 0 ? undefined : [...next] })}
              />
            )}
          </FilterChips>
        </div>
        <Tools search={search} question={question} types={types} name={`${days.from}-${days.to}`} onChange={change} />
      </div>
      {isHours ? (
        <HeatMap
          question={question}
          shade={search.shade ?? 'clicks'}
          isRunning={includesToday(days, today)}
          days={days}
        />
      ) : (
        <TreeTable
          question={shown.question}
          note={shown.words}
          search={search}
          isRunning={includesToday(days, today)}
          words={words}
          onChange={change}
        />
      )}
      <CostSource search={search} days={days} />
      <MixedGoals question={question} />
      <FactsLink last={days.to} />
    </>
  )
}
