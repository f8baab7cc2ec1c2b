/** The list of campaigns: links to copy, destinations, and figures in the chosen days. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Megaphone, Plus } from 'lucide-react'
import { CAMPAIGN_STATUSES, createCampaign, exportCampaigns, listCampaigns } from '../../../traffic/campaigns/api.ts'
import { changeCampaigns } from '../../../people/bulk/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask } from '../../ground/call.ts'
import { useToday } from '../../ground/figures/now.ts'
import { daysOf } from '../../ground/figures/window.ts'
import { DaysChoice, GoalChoice } from '../../ground/figures/window-controls.tsx'
import { inWords } from '../../ground/rungs.ts'
import { zoneNow } from '../../ground/zone.ts'
import { WithActs } from '../../ground/many/act-bar.tsx'
import type { ActType } from '../../ground/many/acts.ts'
import { TagChoice } from '../../ground/many/tag-dots.tsx'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { Choice } from '../../ground/ui/choice.tsx'
import { List, useListAddress } from '../../ground/ui/list.tsx'
import { SaveCsv } from '../../ground/save-csv.tsx'
import { SourceChoice } from '../../ground/source-choice.tsx'
import { EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { SearchField } from '../../ground/ui/search-field.tsx'
import { CampaignTable } from './campaign-table.tsx'

const route = getRouteApi('/inside/campaigns')

const ACTS: readonly ActType[] = [
  'pause',
  'resume',
  'archive',
  'tag',
  'untag',
  'replace_offer',
  'set_fallback',
  'clone',
]

/** The API's largest page: sorting needs all campaigns on one page, and nearly every workspace has fewer. */
const PAGE_SIZE = 200

export function CampaignsPage() {
  const address = useListAddress(route.useSearch())
  const { search, narrow } = address
  const { role } = useActive()
  const { q, status, tag, source, cursor } = search
  const filter = { q, status, tag_id: tag, traffic_source_id: source }
  const today = useToday()
  const days = daysOf(search, today)
  // The days and the goal choose figures, not campaigns.
  const sought = { ...address, search: { q, status, tag, source, cursor } }
  const campaigns = useQuery({
    ...ask(listCampaigns, { query: { ...filter, cursor, limit: PAGE_SIZE } }),
    placeholderData: keepPreviousData,
  })
  const isWhole = cursor === undefined && campaigns.data?.next_cursor === null
  const reason = reasonAgainst(createCampaign, role)
  const create =
    reason === undefined ? (
      <Link to="/campaigns/new" className={buttonLook('primary')}>
        <Plus aria-hidden className="size-3.5" />
        New campaign
      </Link>
    ) : (
      <Button icon={Plus} reason={reason}>
        New campaign
      </Button>
    )
  return (
    <>
      <PageHeader
        title="Campaigns"
        words={`Each campaign has a link for your ads. A conversion counts on the day of its click (${zoneNow()}).`}
      >
        <SearchField value={q} onSeek={sought => narrow({ q: sought })} />
        <Choice
          label="State"
          any="All but archived"
          options={CAMPAIGN_STATUSES}
          words={inWords}
          value={status}
          onChange={chosen => narrow({ status: chosen })}
        />
        <TagChoice value={tag} onChange={chosen => narrow({ tag: chosen })} />
        <SourceChoice any="All sources" source={source} onChange={chosen => narrow({ source: chosen })} />
        <GoalChoice goal={search.goal} pending={search.pending} onChange={changes => narrow({ ...changes, cursor })} />
        <DaysChoice search={search} days={days} today={today} onChange={changes => narrow({ ...changes, cursor })} />
        <SaveCsv endpoint={exportCampaigns} picked={{ filter }} name="campaigns" />
        {create}
      </PageHeader>
      <List
        query={campaigns}
        address={sought}
        what="campaigns"
        empty={
          <EmptyState
            icon={Megaphone}
            title="No campaigns yet"
            words="A campaign gives you a link for your ads and counts its visitors."
          >
            {create}
          </EmptyState>
        }
      >
        {rows => (
          <WithActs endpoint={changeCampaigns} what="campaigns" acts={ACTS} filter={filter} hasMore={!isWhole}>
            <CampaignTable
              campaigns={rows}
              days={days}
              goal={search.goal ?? 'own'}
              pending={search.pending}
              {...(isWhole ? { order: { sort: search.sort, onSort: sort => narrow({ sort }) } } : {})}
            />
          </WithActs>
        )}
      </List>
    </>
  )
}
