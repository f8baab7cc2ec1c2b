/** Campaigns: their address to copy, where they lead, and how they went in the chosen days. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { ChartNoAxesCombined, Megaphone, MousePointerClick, Pencil, Plus, Trophy } from 'lucide-react'
import type { z } from 'zod'
import { readReportAsMember } from '../../../reading/reports/api.ts'
import { type Campaign, createCampaign, deleteCampaign, listCampaigns } from '../../../traffic/campaigns/api.ts'
import { listClickFlows } from '../../../traffic/click-flows/api.ts'
import { listFunnels } from '../../../traffic/funnels/api.ts'
import { listOffers } from '../../../traffic/offers/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { type Line, lineOf, orderBy, sorted } from '../../ground/figures/columns.ts'
import { count, money, moneyOrNone, NONE, percent } from '../../ground/figures/figures.ts'
import type { Totals } from '../../ground/figures/measures.ts'
import { useNow } from '../../ground/figures/now.ts'
import { boundsOf, type Days, daysOf } from '../../ground/figures/window.ts'
import { DaysChoice } from '../../ground/figures/window-controls.tsx'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { CloneItem } from '../../ground/ui/clone.tsx'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { List, useListAddress } from '../../ground/ui/list.tsx'
import { MenuItem, MenuLine } from '../../ground/ui/menu.tsx'
import { EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { DeleteItem, RowMenu } from '../../ground/ui/row-menu.tsx'
import { SearchField } from '../../ground/ui/search-field.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { addressOf } from './address.tsx'

type CampaignRow = z.input<typeof Campaign>

const route = getRouteApi('/inside/campaigns')

/** As many as a page may have, so that nearly everyone has all of theirs on one and can sort them. */
const MOST = 200

export function CampaignsPage() {
  const address = useListAddress(route.useSearch())
  const { search, narrow } = address
  const { role } = useActive()
  const { q, cursor } = search
  const today = new Date(useNow()).toISOString().slice(0, 10)
  const days = daysOf(search, today)
  // The days choose figures, not campaigns.
  const sought = { ...address, search: { q, cursor } }
  const campaigns = useQuery({
    ...ask(listCampaigns, { query: { q, cursor, limit: MOST } }),
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
        words="Each has an address to send traffic to. A conversion counts on the UTC day of its click."
      >
        <SearchField value={q} onSeek={sought => narrow({ q: sought })} />
        <DaysChoice search={search} days={days} today={today} onChange={changes => narrow({ ...changes, cursor })} />
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
            words="A campaign gives you the address that ads point to, and counts who comes through it."
          >
            {create}
          </EmptyState>
        }
      >
        {rows => (
          <CampaignTable
            campaigns={rows}
            days={days}
            {...(isWhole ? { order: { sort: search.sort, onSort: sort => narrow({ sort }) } } : {})}
          />
        )}
      </List>
    </>
  )
}

/** By the ids of the report's columns. */
const FIGURES = [
  ['clicks', 'Clicks', 'min-w-16'],
  ['lead', 'Lead', 'min-w-14'],
  ['ftd', 'FTD', 'min-w-14'],
  ['revenue', 'Revenue', 'min-w-20'],
  ['cost', 'Cost', 'min-w-20'],
  ['profit', 'Profit', 'min-w-20'],
  ['roi', 'ROI', 'min-w-20'],
] as const

type TableProps = {
  campaigns: readonly CampaignRow[]
  days: Days
  /** Only where every campaign is here: the largest of one page would be taken for the largest of all. */
  order?: { sort: string | undefined; onSort: (sort: string | undefined) => void }
}

function CampaignTable({ campaigns, days, order }: TableProps) {
  const report = useQuery(ask(readReportAsMember, { query: { dimension: 'campaign', ...boundsOf(days) } }))
  const rows = new Map(report.data?.rows.map(row => [row.key, row]))
  const lines = campaigns.map(campaign => ({ campaign, ...lineOf(rows.get(campaign.id) ?? NO_CLICKS, 'lead') }))
  return (
    <>
      <RefusalNote refused={report.error} className="mb-3" />
      <Table caption="Campaigns">
        <thead>
          <tr>
            <Head stay>Name</Head>
            <Head>Address</Head>
            {/* The money is worth more room than this, which the campaign's own page says too. */}
            <Head className="max-2xl:hidden">Leads to</Head>
            {FIGURES.map(([id, title, className]) => {
              const { now, next } = orderBy(id, order?.sort)
              return (
                <Head
                  key={id}
                  numeric
                  className={className}
                  {...(order === undefined ? {} : { sort: { now, onSort: () => order.onSort(next) } })}
                >
                  {title}
                </Head>
              )
            })}
            <ActionHead />
          </tr>
        </thead>
        <tbody>
          {sorted(lines, order?.sort).map(line => (
            <CampaignLine
              key={line.campaign.id}
              {...line}
              isCounted={rows.has(line.campaign.id) || report.data?.truncated === false}
            />
          ))}
        </tbody>
      </Table>
    </>
  )
}

type LineProps = Line & {
  campaign: CampaignRow
  /** False until the figures are there, and of what a long report leaves out: nobody knows that they are 0. */
  isCounted: boolean
}

function CampaignLine({ campaign, row, measures: { cost, profit, roi }, isCounted }: LineProps) {
  const destinationOf = useDestinations()
  const figure = (text: string) => (isCounted ? text : NONE)
  return (
    <Row>
      <RowHead stay className="max-w-36 truncate sm:max-w-60">
        <Link to="/campaigns/$id" params={{ id: campaign.id }} className="underline-offset-2 hover:underline">
          {campaign.name}
        </Link>
      </RowHead>
      <Cell>
        <span className="flex items-center gap-1">
          <span className="font-mono text-sm text-ink-soft">/c/{campaign.key}</span>
          <CopyButton text={addressOf(campaign)} label="Copy" look="quiet" about={campaign.name} />
        </span>
      </Cell>
      <Cell className="max-w-56 truncate max-2xl:hidden" title={destinationOf(campaign)}>
        {destinationOf(campaign)}
      </Cell>
      <Cell numeric>{figure(count(row.clicks))}</Cell>
      <Cell numeric>{figure(count(row.lead))}</Cell>
      <Cell numeric>{figure(count(row.ftd))}</Cell>
      <Cell numeric>{figure(money(row.revenue))}</Cell>
      <Cell numeric faint={cost === undefined}>
        {moneyOrNone(cost)}
      </Cell>
      <Signed value={profit === undefined ? undefined : Number(profit)} text={moneyOrNone(profit)} />
      <Signed value={roi} text={percent(roi, true)} />
      <ActionCell>
        <CampaignMenu campaign={campaign} />
      </ActionCell>
    </Row>
  )
}

const NO_CLICKS: Totals = {
  clicks: 0,
  landed: 0,
  started: 0,
  registered: 0,
  lead: 0,
  deposit: 0,
  ftd: 0,
  revenue: '0',
}

/** A figure in red or green by its sign. */
function Signed({ value, text }: { value: number | undefined; text: string }) {
  const look = value === undefined || value === 0 ? undefined : value > 0 ? 'text-good' : 'text-bad'
  return (
    <Cell numeric faint={value === undefined} className={look}>
      {text}
    </Cell>
  )
}

function useDestinations(): (campaign: CampaignRow) => string {
  const funnels = useQuery(ask(listFunnels, { query: { limit: 200 } })).data?.data ?? []
  const flows = useQuery(ask(listClickFlows, { query: { limit: 200 } })).data?.data ?? []
  const offers = useQuery(ask(listOffers, { query: { limit: 200 } })).data?.data ?? []
  return ({ destination }) => {
    if (destination.type === 'redirect') return destination.url
    if (destination.type === 'offer') {
      const offer = offers.find(({ id }) => id === destination.offer_id)
      return offer === undefined ? 'An offer' : `Offer ${offer.name}`
    }
    if (destination.type === 'click_flow') {
      const flow = flows.find(({ id }) => id === destination.click_flow_id)
      return flow === undefined ? 'A click flow' : `Click flow ${flow.name}`
    }
    const name = funnels.find(({ id }) => id === destination.funnel_id)?.name
    return name === undefined ? 'A funnel' : `Funnel ${name}`
  }
}

function CampaignMenu({ campaign: { id, name } }: { campaign: CampaignRow }) {
  const navigate = useNavigate()
  // Whoever looks closer at a figure looks at the same days.
  const { range, from, to } = route.useSearch()
  const here = { campaign: id, range, from, to }
  return (
    <RowMenu name={name}>
      <MenuItem icon={Pencil} onSelect={() => void navigate({ to: '/campaigns/$id', params: { id } })}>
        Open
      </MenuItem>
      <CloneItem id={id} endpoint={createCampaign} to="/campaigns/new" />
      <MenuItem icon={ChartNoAxesCombined} onSelect={() => void navigate({ to: '/', search: { ...here, by: 'day' } })}>
        Report
      </MenuItem>
      <MenuItem icon={MousePointerClick} onSelect={() => void navigate({ to: '/clicks', search: here })}>
        Clicks
      </MenuItem>
      <MenuItem icon={Trophy} onSelect={() => void navigate({ to: '/conversions', search: { campaign: id } })}>
        Conversions
      </MenuItem>
      <MenuLine />
      <DeleteItem
        name={name}
        what="campaign"
        endpoint={deleteCampaign}
        refresh={[listCampaigns]}
        words="Its address redirects to the fallback from then on and records nothing. Reports stay, and late conversions still count. It cannot be brought back."
        deed={() => call(deleteCampaign, { params: { id } })}
      />
    </RowMenu>
  )
}
