/** The click log: every click of a window, newest first, by campaign, status and whether it counts. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { MousePointerClick } from 'lucide-react'
import { listClicksAsMember, TRACKED } from '../../feed/api.ts'
import { ask } from '../call.ts'
import { CampaignChoice } from '../campaigns/campaign-choice.tsx'
import { day } from '../figures.ts'
import { useNow } from '../reports/now.ts'
import { boundsOf, daysOf } from '../reports/window.ts'
import { DaysChoice } from '../reports/window-controls.tsx'
import { FindClick } from '../traces/find-click.tsx'
import { Choice } from '../ui/choice.tsx'
import { SelectField } from '../ui/field.tsx'
import { List, useListAddress } from '../ui/list.tsx'
import { EmptyState, PageHeader } from '../ui/page.tsx'
import { Note } from '../ui/refusal.tsx'
import { ClickTable } from './click-table.tsx'
import { inWords, LADDER } from './rungs.ts'

const TRACKED_WORDS = { true: 'Counted clicks', false: 'Bots, previews, tests', all: 'Counted or not' } as const

const route = getRouteApi('/inside/clicks')

export function ClicksPage() {
  const address = useListAddress(route.useSearch())
  const { search, narrow } = address
  const today = new Date(useNow()).toISOString().slice(0, 10)
  const days = daysOf(search, today)
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
        <CampaignChoice campaign={search.campaign} onChange={campaign => narrow({ campaign })} />
        <Choice
          label="Status"
          any="Any status"
          options={LADDER}
          words={inWords}
          value={search.status}
          onChange={status => narrow({ status })}
        />
        <SelectField
          label="Counted"
          hideLabel
          toolbar
          className="min-w-32 flex-1 sm:flex-none"
          value={search.tracked ?? 'true'}
          onChange={event => {
            const tracked = TRACKED.find(one => one === event.target.value)
            narrow({ tracked: tracked === 'true' ? undefined : tracked })
          }}
        >
          {TRACKED.map(one => (
            <option key={one} value={one}>
              {TRACKED_WORDS[one]}
            </option>
          ))}
        </SelectField>
        <DaysChoice search={search} days={days} today={today} onChange={narrow} />
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
            words="Choose other days, or send a visitor to a campaign’s address. Bots, previews and tests show under “Counted or not”."
          />
        }
      >
        {rows => <ClickTable caption="Clicks" clicks={rows} />}
      </List>
    </>
  )
}

function NoLongerKept({ before, from }: { before: string | null | undefined; from: string }) {
  if (before === null || before === undefined || from >= before) return null
  return (
    <div className="mb-4">
      <Note>Clicks made before {day(before)} are no longer kept. Reports count their days as ever.</Note>
    </div>
  )
}
