/** The overview: figures of a window that the address holds, what needs attention, and the best and worst campaigns. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { MINUTE_MS, dayOf } from '../../../contract/days.ts'
import { readReportAsMember } from '../../../reading/reports/api.ts'
import { ask } from '../../ground/call.ts'
import { useHasCampaigns } from '../../ground/campaign-choice.tsx'
import { useGoalWords } from '../../ground/figures/goals.ts'
import { CutDays } from '../../ground/figures/cut-days.tsx'
import { countingIn, type WireReport } from '../../ground/figures/measures.ts'
import { useNow } from '../../ground/figures/now.ts'
import type { OverviewSearch } from '../../ground/figures/search.ts'
import {
  boundsOf,
  type Days,
  daysIn,
  daysOf,
  everyDay,
  includesToday,
  shift,
  utcBoundsOf,
} from '../../ground/figures/window.ts'
import { dayAt, isUtc, zoneNow } from '../../ground/zone.ts'
import { WindowControls } from '../../ground/figures/window-controls.tsx'
import { Loaded, PageHeader, Waiting } from '../../ground/ui/page.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { useAttention } from '../attention/attention.ts'
import { AttentionList } from '../attention/attention-list.tsx'
import { isUrgent } from '../attention/words.ts'
import { BestAndWorst } from './best-and-worst.tsx'
import { useDaysBefore } from './days-before.ts'
import { FirstSteps } from './first-steps.tsx'
import { MarkList, useMarks } from './marks.tsx'
import { rememberChoice } from './remembered.ts'
import { keptIn, type Reporting, ReportingWords, useReporting } from './reporting.tsx'
import { isOfMoney, Tiles } from './tiles.tsx'

const DayChart = lazy(() => import('./day-chart.tsx').then(module => ({ default: module.DayChart })))

const route = getRouteApi('/inside/')

export function OverviewPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/' })
  const set = (changes: OverviewSearch) =>
    void navigate({ search: before => ({ ...before, ...changes }), replace: true, resetScroll: false })
  const setAndKeep = (changes: OverviewSearch) => set(rememberChoice(changes, today))
  const now = useNow()
  const today = dayAt(now)
  const days = daysOf(search, today)
  const hasCampaigns = useHasCampaigns()
  // Urgent lines come before the figures.
  const hasUrgent = useAttention().data?.lines.some(isUrgent) ?? false
  const reporting = useReporting([boundsOf(days), utcBoundsOf(drawnBefore(days) ?? days)], search.campaign)
  return (
    <>
      <PageHeader title="Overview" words={`Counted on the day of the click (${zoneNow()}).`}>
        {hasCampaigns && <WindowControls search={search} days={days} today={today} onChange={setAndKeep} />}
      </PageHeader>
      {hasUrgent && <AttentionList />}
      {hasCampaigns ? (
        <Figures search={search} days={days} today={today} now={now} reporting={reporting} onChange={set} />
      ) : (
        <FirstSteps />
      )}
      {!hasUrgent && <AttentionList />}
      {hasCampaigns && <BestAndWorst search={search} days={days} />}
    </>
  )
}

type FiguresProps = {
  search: OverviewSearch
  days: Days
  today: string
  now: number
  reporting: Reporting
  onChange: (changes: OverviewSearch) => void
}

/** The days to draw for a single day: the week up to it, because one day would be a dot. */
const drawnBefore = (days: Days): Days | undefined =>
  daysIn(days) === 1 ? { from: shift(days.from, -6), to: days.from } : undefined

/** The window's figures, and the chart of one of them by day. */
function Figures({ search, days, today, now, reporting, onChange }: FiguresProps) {
  const narrowed = { ...(search.campaign === undefined ? {} : { campaign_id: search.campaign }), ...reporting.query }
  const week = drawnBefore(days)
  const byDay = useQuery({
    ...ask(readReportAsMember, { query: { dimension: 'day', ...boundsOf(days), ...narrowed } }),
    placeholderData: keptIn(reporting.currency),
    refetchInterval: MINUTE_MS,
  })
  const before = useDaysBefore(days, now, narrowed)
  // The chart draws UTC days: in another zone the whole UTC days of the same dates.
  const utcToday = dayOf(now)
  const length = daysIn(days)
  const upTo = useQuery({
    ...ask(readReportAsMember, { query: { dimension: 'day', ...utcBoundsOf(week ?? days), ...narrowed } }),
    placeholderData: keptIn(reporting.currency),
  })
  const { pending } = search
  const counted = countingIn(byDay.data, pending)
  const drawn = (report: WireReport | undefined) => countingIn(report, pending)?.rows ?? []
  const goal = search.goal ?? 'own'
  const goalWords = useGoalWords(goal, search.campaign)
  const chart = search.chart ?? 'clicks'
  const marks = useMarks(week ?? days, search.campaign)
  const isMoney = isOfMoney(chart)
  return (
    <>
      <Loaded query={{ ...byDay, data: counted }} waiting={<Waiting className="mb-6 h-[34rem] sm:h-[17rem]" />}>
        {report => (
          <div className="mb-6 overflow-hidden rounded-lg border border-line bg-surface">
            <Tiles
              totals={report.totals}
              before={{ alike: countingIn(before.alike, pending), whole: countingIn(before.whole, pending) }}
              running={includesToday(days, today)}
              goal={goal}
              goalWords={goalWords}
              chart={chart}
              days={length}
              currency={reporting.currency}
              onChart={next => onChange({ chart: next === 'clicks' ? undefined : next })}
            />
            <Suspense fallback={<Waiting className="mx-4 mt-4 mb-1 h-44" />}>
              <DayChart
                chart={chart}
                goal={goal}
                goalWords={goalWords}
                days={everyDay(week ?? days, utcToday)}
                rows={week === undefined && isUtc() ? report.rows : drawn(upTo.data)}
                before={week === undefined ? drawn(isMoney || !isUtc() ? before.drawn : before.alike) : []}
                shift={length}
                today={utcToday}
                chosen={week && (week.to > utcToday ? utcToday : week.to)}
                currency={reporting.currency}
                marks={marks}
              />
            </Suspense>
            <MarkList marks={marks} campaign={search.campaign} today={utcToday} />
          </div>
        )}
      </Loaded>
      <RefusalNote refused={before.error} className="mb-4" />
      <ReportingWords reporting={reporting} />
      <CutDays days={days} source={counted?.totals.cost_source} className="-mt-4 mb-6" />
    </>
  )
}
