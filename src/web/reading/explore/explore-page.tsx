/** Explore: clicks by whatever they are, level by level, of a window and of what filters let through. The address holds the question. */
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { clsx } from 'clsx'
import { Columns3, Download } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from '@tanstack/react-query'
import { WIDEST_EXPLORE_DAYS } from '../../../contract/explore.ts'
import type { ExploreDimension } from '../../../contract/explore-dimensions.ts'
import { useEventSettings } from '../../ground/figures/goals.ts'
import { useToday } from '../../ground/figures/now.ts'
import { boundsOf, daysOf, isRunning } from '../../ground/figures/window.ts'
import { CountPending, LongDaysChoice } from '../../ground/figures/window-controls.tsx'
import { useNameOfSub1 } from '../../ground/source-choice.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { Checkbox } from '../../ground/ui/field.tsx'
import { PageHeader } from '../../ground/ui/page.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { zoneNow } from '../../ground/zone.ts'
import { fileColumnsOf, openWith } from './columns.ts'
import { ColumnsDialog } from './columns-dialog.tsx'
import { DIMENSION_WORDS } from './dimensions.ts'
import { FactsLink } from './facts-link.tsx'
import { FilterChips } from './filter-chips.tsx'
import { Hours, ShadeChoice } from './hours.tsx'
import { LevelChips } from './level-chips.tsx'
import { screenOf } from './kept.ts'
import { canCompare, questionOf } from './question.ts'
import { saveCsv } from './save-csv.ts'
import { byLevels, type Change, type ExploreSearch, levelsOf } from './search.ts'
import { TreeTable } from './tree-table.tsx'
import { ViewsMenu } from './views-menu.tsx'

const route = getRouteApi('/inside/explore')

/** sub1 is called as the source of the one campaign calls it that is looked at. */
function useWords({ where = [] }: ExploreSearch) {
  const [, , campaign, ...others] = where.find(([of, said]) => of === 'campaign' && said === 'is') ?? []
  const sub1 = useNameOfSub1(others.length === 0 ? campaign : undefined)
  return (dimension: ExploreDimension) =>
    dimension === 'sub1' && sub1 !== undefined ? `${sub1} (sub1)` : DIMENSION_WORDS[dimension]
}

/** Of these the last question is what Back goes to; of all else the address only follows. */
const ASKS: readonly (keyof ExploreSearch)[] = ['by', 'where', 'range', 'from', 'to', 'pending', 'view']

export function ExplorePage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/explore' })
  const change: Change = changes =>
    void navigate({
      search: before => ({ ...before, ...changes }),
      replace: !ASKS.some(key => key in changes),
      resetScroll: false,
    })
  const today = useToday()
  const days = daysOf(search, today, WIDEST_EXPLORE_DAYS)
  const window = boundsOf(days)
  const words = useWords(search)
  openWith(useEventSettings().goal)
  const levels = levelsOf(search)
  const question = questionOf(search, window, zoneNow())
  const isHours = search.view === 'hours'
  const running = isRunning(days, today)
  return (
    <>
      <PageHeader title="Explore" words={`Counted on the day of the click (${zoneNow()}).`}>
        <ViewsMenu
          question={question}
          screen={search}
          onOpen={(view, isStart) => void navigate({ search: screenOf(view, search), replace: isStart })}
        />
        <LongDaysChoice search={search} days={days} today={today} widest={WIDEST_EXPLORE_DAYS} onChange={change} />
        <CountPending pending={search.pending} onChange={pending => change({ pending })} />
        {!isHours && (
          <Checkbox
            className="h-8 items-center! pointer-coarse:h-10"
            label="Compare with before"
            title="As many days before"
            reason={canCompare(levels) ? undefined : 'Not by day'}
            checked={canCompare(levels) && search.compare !== undefined}
            onChange={({ target }) => change({ compare: target.checked ? 'before' : undefined })}
          />
        )}
        {!isHours && levels.includes('sub1') && (
          <Checkbox
            className="h-8 items-center! pointer-coarse:h-10"
            label="Keep unassigned spend apart"
            title="Spend that was booked without a sub1 is a row of its own, instead of being shared among the clicks of its campaign and day"
            checked={search.unassigned !== undefined}
            onChange={({ target }) => change({ unassigned: target.checked ? 'apart' : undefined })}
          />
        )}
      </PageHeader>
      <div className="mb-3 flex flex-wrap items-end gap-x-4 gap-y-2">
        <div className="flex min-w-0 flex-1 basis-80 flex-col gap-1.5">
          {!isHours && <LevelChips levels={levels} words={words} onChange={next => change(byLevels(next, search))} />}
          <FilterChips
            filters={search.where ?? []}
            words={words}
            window={window}
            onChange={where => change({ where: where.length === 0 ? undefined : [...where] })}
          />
        </div>
        <Tools search={search} question={question} name={`${days.from}-${days.to}`} onChange={change} />
      </div>
      {isHours ? (
        <Hours question={question} shade={search.shade ?? 'clicks'} isRunning={running} />
      ) : (
        <TreeTable question={question} search={search} isRunning={running} words={words} onChange={change} />
      )}
      <FactsLink last={days.to} />
    </>
  )
}

type ToolsProps = {
  search: ExploreSearch
  question: ReturnType<typeof questionOf>
  name: string
  onChange: Change
}

function Tools({ search, question, name, onChange }: ToolsProps) {
  const [choosing, setChoosing] = useState(false)
  const saving = useMutation({
    mutationFn: () => saveCsv({ ...question, columns: fileColumnsOf(search) }, `sluice-explore-${name}.csv`),
  })
  const isHours = search.view === 'hours'
  return (
    <div className="flex flex-wrap items-center gap-2">
      {isHours ? (
        <ShadeChoice shade={search.shade} onChange={shade => onChange({ shade })} />
      ) : (
        <>
          <Button size="sm" icon={Columns3} onClick={() => setChoosing(true)}>
            Columns
          </Button>
          <Button size="sm" icon={Download} pending={saving.isPending} onClick={() => saving.mutate()}>
            CSV
          </Button>
        </>
      )}
      <nav aria-label="Shown as" className="flex rounded-md border border-line bg-sunken p-0.5">
        {([undefined, 'hours'] as const).map(view => (
          <button
            key={view ?? 'table'}
            type="button"
            aria-current={search.view === view ? 'true' : undefined}
            onClick={() => onChange({ view })}
            className={clsx(
              'flex h-6 items-center rounded-sm px-2 text-sm font-medium pointer-coarse:h-8',
              search.view === view
                ? 'bg-raised text-ink shadow-[0_1px_2px_var(--shade)]'
                : 'text-ink-soft hover:text-ink',
            )}
          >
            {view === undefined ? 'Table' : 'Heat map'}
          </button>
        ))}
      </nav>
      <RefusalNote refused={saving.error} className="w-full" />
      <ColumnsDialog isOpen={choosing} search={search} onChange={onChange} onClose={() => setChoosing(false)} />
    </div>
  )
}
