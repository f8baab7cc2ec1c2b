/** The report as a table: one line per campaign, country, sub1, offer or day, and the totals always in sight. */
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { clsx } from 'clsx'
import { Download, Inbox } from 'lucide-react'
import { DAY_MS } from '../../../contract/days.ts'
import { minutesAhead } from '../../../contract/time-zones.ts'
import { readReportAsMember } from '../../../reading/reports/api.ts'
import { ask, call } from '../../ground/call.ts'
import { CutDays } from '../../ground/figures/cut-days.tsx'
import { useGoalWords } from '../../ground/figures/goals.ts'
import { hasSpend } from '../../ground/figures/columns.ts'
import { counting, countingIn, measure, type Report } from '../../ground/figures/measures.ts'
import { BREAKDOWNS, type Breakdown, type Goal, type OverviewSearch } from '../../ground/figures/search.ts'
import { boundsOf, type Days } from '../../ground/figures/window.ts'
import { inWords } from '../../ground/rungs.ts'
import { useNameOfSub1 } from '../../ground/source-choice.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { Asked, EmptyState, Section, Waiting } from '../../ground/ui/page.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { dayBegins, isUtc } from '../../ground/zone.ts'
import { download } from '../../ground/download.ts'
import { reportCsv } from './csv.ts'
import { keptIn, type Reporting } from './reporting.tsx'
import { HeatChoice, HeatMap } from './heat-map.tsx'
import { ReportTable, WORDS } from './report-table.tsx'

type PartProps = {
  search: OverviewSearch
  days: Days
  /** Whose clocks say what a day and an hour are. */
  zone: string
  goal: Goal
  reporting: Reporting
  onChange: (changes: OverviewSearch) => void
}

/** Rows by day are the zone's where half hours are kept and make its days; UTC's have a cost. */
function dimensionOf(by: Breakdown, zone: string, days: Days): { dimension: Report['dimension']; tz?: string } {
  if (by === 'hour') return { dimension: 'local_hour', tz: zone }
  if (by === 'week') return { dimension: 'local_weekday_hour', tz: zone }
  return by === 'day' && hasOwnDays(zone, days) ? { dimension: 'local_day', tz: zone } : { dimension: by }
}

const SLOTS_KEPT_MS = 100 * DAY_MS

function hasOwnDays(zone: string, { from }: Days): boolean {
  const begins = dayBegins(from)
  return !isUtc() && (minutesAhead(zone, begins) ?? 0) % 30 === 0 && begins > Date.now() - SLOTS_KEPT_MS + DAY_MS
}

export function ReportPart({ search, days, zone, goal, reporting, onChange }: PartProps) {
  const by = search.by ?? 'campaign'
  const goalWords = useGoalWords(goal, search.campaign)
  const narrowed = search.campaign === undefined ? {} : { campaign_id: search.campaign }
  const inDollars = { ...dimensionOf(by, zone, days), ...boundsOf(days), ...narrowed }
  const query = inDollars.dimension === 'day' ? { ...inDollars, ...reporting.query } : inDollars
  const report = useQuery({
    ...ask(readReportAsMember, { query }),
    placeholderData: keptIn('currency' in query ? reporting.currency : 'USD'),
  })
  const data = countingIn(report.data, search.pending)
  // What leaves Sluice is in US dollars.
  const saving = useMutation({
    mutationFn: () => call(readReportAsMember, { query: inDollars }),
    onSuccess: saved =>
      download(
        `sluice-${saved.dimension}-${days.from}-${days.to}.csv`,
        reportCsv(countingIn(saved, search.pending), goal),
      ),
  })
  return (
    <Section
      title="Report"
      aside={
        <div className="flex min-w-0 flex-wrap items-center gap-2">
          {by === 'week' && (
            <HeatChoice heat={search.heat} goalWords={goalWords} onChange={heat => onChange({ heat })} />
          )}
          <BreakdownSwitch now={by} campaign={search.campaign} />
          <Button
            icon={Download}
            size="sm"
            reason={
              data === undefined || (data.rows.length === 0 && data.not_broken_down === null)
                ? 'There are no rows to save.'
                : undefined
            }
            onClick={() => saving.mutate()}
          >
            CSV
          </Button>
        </div>
      }
    >
      <Asked query={{ ...report, data }} waiting={<Waiting className="h-72" />}>
        {({ dimension: shown, rows, truncated, hint, ...rest }) => (
          <>
            {truncated && (
              <Note kind="warning">
                <strong>Only the first {rows.length} rows are shown.</strong> {hint} The totals cover everything.
              </Note>
            )}
            {rows.length === 0 && rest.not_broken_down === null ? (
              <EmptyState
                icon={Inbox}
                title="No clicks in these days"
                words="Clicks appear here the moment they are made. Choose other days, or send traffic to a campaign’s address."
              />
            ) : (
              <div
                className={clsx('transition-opacity', truncated && 'mt-3', report.isPlaceholderData && 'opacity-60')}
              >
                {shown === 'local_weekday_hour' ? (
                  <HeatMap
                    rows={rows}
                    heat={search.heat ?? 'clicks'}
                    goal={goal}
                    goalWords={goalWords}
                    days={days}
                    zone={zone}
                  />
                ) : (
                  <ReportTable
                    report={{ dimension: shown, rows, truncated, ...rest }}
                    goal={goal}
                    campaign={search.campaign}
                    sort={search.sort}
                    onSort={sort => onChange({ sort })}
                  />
                )}
                {hasSpend(shown) && <CutDays days={days} byDay={shown === 'day'} source={rest.totals.cost_source} />}
                {search.campaign === undefined && goal !== 'own' && (
                  <MixedGoals dimension={shown} days={days} goal={goal} pending={search.pending} />
                )}
                {!hasSpend(shown) && (
                  <p className="mt-2 text-sm text-ink-faint">
                    {`Spend is recorded by campaign, UTC day and sub1, so there is no cost by ${WORDS[shown].toLowerCase()}${shown === 'local_day' ? ` of ${zone}` : ''}.`}
                  </p>
                )}
              </div>
            )}
          </>
        )}
      </Asked>
    </Section>
  )
}

/**
 * Campaigns count different things, and totals divide by one: all of the clicks and all of the cost, by what only some of them count.
 * Said wherever that is so.
 */
type MixedProps = { dimension: Report['dimension']; days: Days; goal: Goal; pending: boolean | undefined }

function MixedGoals({ dimension, days, goal, pending }: MixedProps) {
  const query = { dimension: 'campaign', ...boundsOf(days) } as const
  const rows = useQuery({ ...ask(readReportAsMember, { query }), placeholderData: keepPreviousData }).data?.rows ?? []
  const without = rows.filter(row => row.key !== '' && measure(counting(row, pending), goal).conversions === 0)
  if (without.length === 0 || without.length === rows.length) return null
  const hasCost = hasSpend(dimension) && without.some(row => row.cost_source != null)
  return (
    <p className="mt-2 text-sm text-ink-faint">
      {`${without.length} of ${rows.length} campaigns have no ${inWords(goal)}; the total’s CR${hasCost ? ' and CPA count their clicks and cost' : ' counts their clicks'} all the same. Choose a campaign, or the goal of each.`}
    </p>
  )
}

const BY_WORDS: Record<Breakdown, string> = { ...WORDS, hour: 'Hour', week: 'Heat map' }

/** Under the name that the campaign's source gives it, sub1 is found by whoever looks for zones. */
function BreakdownSwitch({ now, campaign }: { now: Breakdown; campaign: string | undefined }) {
  const nameOfSub1 = useNameOfSub1(campaign)
  return (
    <nav
      aria-label="Rows of the report"
      className="flex max-w-full overflow-x-auto rounded-md border border-line bg-sunken p-0.5"
    >
      {BREAKDOWNS.map(by => (
        <Link
          key={by}
          from="/"
          to="."
          search={before => ({ ...before, by: by === 'campaign' ? undefined : by, sort: undefined })}
          replace
          resetScroll={false}
          aria-current={by === now ? 'true' : undefined}
          className={clsx(
            'flex h-6 items-center rounded-sm px-2 text-sm font-medium pointer-coarse:h-8',
            by === now ? 'bg-raised text-ink shadow-[0_1px_2px_var(--shade)]' : 'text-ink-soft hover:text-ink',
          )}
        >
          {by === 'sub1' && nameOfSub1 !== undefined ? `${nameOfSub1} (sub1)` : BY_WORDS[by]}
        </Link>
      ))}
    </nav>
  )
}
