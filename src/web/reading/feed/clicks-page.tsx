/** The click log: every click of a window, newest first, by campaign, status, whether it counts, country and sub1. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { MousePointerClick } from 'lucide-react'
import { exportClicks, listClicksAsMember } from '../../../reading/feed/api.ts'
import { ask } from '../../ground/call.ts'
import { day } from '../../ground/figures/figures.ts'
import { useToday } from '../../ground/figures/now.ts'
import { boundsOf, type Days, daysOf } from '../../ground/figures/window.ts'
import { soughtQuery } from '../../ground/more-filters.tsx'
import { List, useListAddress } from '../../ground/ui/list.tsx'
import { EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { SaveCsv } from '../../ground/save-csv.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { ClickFilters } from './click-filters.tsx'
import { ClickTable } from './click-table.tsx'
import { type ClicksSearch, UNKNOWN_COUNTRY } from './search.ts'

const route = getRouteApi('/inside/clicks')

export function ClicksPage() {
  const address = useListAddress(route.useSearch())
  const { search } = address
  const today = useToday()
  const days = daysOf(search, today)
  const query = queryOf(search, days)
  const clicks = useQuery({
    ...ask(listClicksAsMember, { query: { ...query, cursor: search.cursor } }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PageHeader title="Clicks" words="Newest first. The status is the highest stage a click has reached.">
        <ClickFilters
          address={address}
          days={days}
          today={today}
          seen={clicks.data?.data.map(({ geo }) => geo) ?? []}
        />
        <SaveCsv endpoint={exportClicks} query={query} name="clicks" />
      </PageHeader>
      <NoLongerKept before={clicks.data?.clicks_from} from={days.from} />
      <List
        query={clicks}
        address={address}
        what="clicks"
        empty={
          <EmptyState
            icon={MousePointerClick}
            title="No clicks in these days"
            words="Choose other days, or send a visitor to a campaign’s address. “All clicks” also shows bots, previews and tests."
          />
        }
      >
        {rows => <ClickTable caption="Clicks" clicks={rows} campaigns={clicks.data?.campaigns ?? []} />}
      </List>
    </>
  )
}

/** A sought id is looked up among all clicks, also uncounted ones, unless days or counting are chosen. */
function queryOf(search: ClicksSearch, days: Days) {
  const { q, range, from, to, tracked, campaign, status, country, type, sub1 } = search
  const hasDays = q === undefined || [range, from, to].some(one => one !== undefined)
  return {
    ...(hasDays ? boundsOf(days) : {}),
    ...soughtQuery(search),
    q,
    type,
    campaign_id: campaign,
    status,
    tracked: tracked ?? (q === undefined ? undefined : 'all'),
    geo: country === UNKNOWN_COUNTRY ? '' : country,
    sub1,
  }
}

function NoLongerKept({ before, from }: { before: string | null | undefined; from: string }) {
  if (before === null || before === undefined || from >= before) return null
  return (
    <div className="mb-4">
      <Note>Clicks made before {day(before)} are no longer kept. Reports still count their days.</Note>
    </div>
  )
}
