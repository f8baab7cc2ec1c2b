/** The click log: every click of a window, newest first, by campaign, status and whether it counts. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { MousePointerClick } from 'lucide-react'
import { listClicksAsMember, TRACKED } from '../../feed/api.ts'
import { ask } from '../call.ts'
import { CampaignChoice } from '../campaigns/campaign-choice.tsx'
import { useNow } from '../reports/now.ts'
import { boundsOf, daysOf } from '../reports/window.ts'
import { DaysChoice } from '../reports/window-controls.tsx'
import { FindClick } from '../traces/find-click.tsx'
import { SelectField } from '../ui/field.tsx'
import { Asked, EmptyState, PageHeader } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { ClickTable } from './click-table.tsx'
import { inWords, LADDER, type Rung } from './rungs.ts'
import type { ClicksSearch } from './search.ts'

const TRACKED_WORDS = { true: 'Counted clicks', false: 'Bots, previews, tests', all: 'Counted or not' } as const

const route = getRouteApi('/inside/clicks')

export function ClicksPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/clicks' })
  const today = new Date(useNow()).toISOString().slice(0, 10)
  const days = daysOf(search, today)
  // Another question begins at its newest click.
  const set = (changes: ClicksSearch) =>
    void navigate({ search: before => ({ ...before, cursor: undefined, ...changes }) })
  const clicks = useQuery({
    ...ask(listClicksAsMember, {
      query: {
        ...boundsOf(days),
        campaign_id: search.campaign,
        status: search.status,
        tracked: search.tracked,
        cursor: search.cursor,
      },
    }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PageHeader title="Clicks" words="Newest first. The status is the highest rung a click has reached.">
        <FindClick />
        <CampaignChoice campaign={search.campaign} onChange={campaign => set({ campaign })} />
        <SelectField
          label="Status"
          hideLabel
          toolbar
          className="min-w-32 flex-1 sm:flex-none"
          value={search.status ?? ''}
          onChange={event => set({ status: event.target.value === '' ? undefined : (event.target.value as Rung) })}
        >
          <option value="">Any status</option>
          {LADDER.map(rung => (
            <option key={rung} value={rung}>
              {inWords(rung)}
            </option>
          ))}
        </SelectField>
        <SelectField
          label="Counted"
          hideLabel
          toolbar
          className="min-w-32 flex-1 sm:flex-none"
          value={search.tracked ?? 'true'}
          onChange={event => {
            const tracked = TRACKED.find(one => one === event.target.value)
            set({ tracked: tracked === 'true' ? undefined : tracked })
          }}
        >
          {TRACKED.map(one => (
            <option key={one} value={one}>
              {TRACKED_WORDS[one]}
            </option>
          ))}
        </SelectField>
        <DaysChoice search={search} days={days} today={today} onChange={set} />
      </PageHeader>
      <Asked query={clicks}>
        {({ data, next_cursor }) => (
          <>
            {data.length === 0 ? (
              <EmptyState
                icon={MousePointerClick}
                title="No clicks here"
                words="Choose other days or drop a filter, or send a visitor to a campaign’s address."
              />
            ) : (
              <ClickTable caption="Clicks" clicks={data} />
            )}
            <Pager cursor={search.cursor} next={next_cursor} onGo={cursor => set({ cursor })} />
          </>
        )}
      </Asked>
    </>
  )
}
