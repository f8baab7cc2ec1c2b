/** The table of campaigns: each with its switch and its figures in the chosen days, and a line of totals. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { ChartNoAxesCombined, Copy, MousePointerClick, Pencil, Trophy } from 'lucide-react'
import type { ReactNode } from 'react'
import type { z } from 'zod'
import { readReportAsMember } from '../../../reading/reports/api.ts'
import { listBots } from '../../../telegram/bots/api.ts'
import { listChannels } from '../../../telegram/channels/api.ts'
import { type Campaign, createCampaign } from '../../../traffic/campaigns/api.ts'
import { listClickFlows } from '../../../traffic/click-flows/api.ts'
import { listFunnels } from '../../../traffic/funnels/api.ts'
import { listOffers } from '../../../traffic/offers/api.ts'
import { ask } from '../../ground/call.ts'
import { LIST_COLUMNS, type FigureLine, lineOf, orderBy, sorted } from '../../ground/figures/columns.ts'
import { CutDays } from '../../ground/figures/cut-days.tsx'
import { cents, fromCents, NONE } from '../../ground/figures/figures.ts'
import { counting, NO_CLICKS, sumOf, type Totals } from '../../ground/figures/measures.ts'
import type { Goal } from '../../ground/figures/search.ts'
import { boundsOf, type Days } from '../../ground/figures/window.ts'
import { HistoryItem } from '../../ground/history/object-history.tsx'
import { SelectBox, SelectPage } from '../../ground/many/selection.tsx'
import { TagDots } from '../../ground/many/tag-dots.tsx'
import { Badge } from '../../ground/ui/badge.tsx'
import { CloneItem } from '../../ground/ui/clone.tsx'
import { CopyButton, copyText } from '../../ground/ui/copy.tsx'
import { MenuItem, MenuLine } from '../../ground/ui/menu.tsx'
import { useIsNarrow } from '../../ground/ui/narrow.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { RowMenu } from '../../ground/ui/row-menu.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { addressOf } from './address.tsx'
import { ArchiveCampaignItem, DeleteCampaignItem, StateSwitch } from './state.tsx'

type CampaignRow = z.input<typeof Campaign>

const route = getRouteApi('/inside/campaigns')

/** The figures that fit beside the name on a phone. */
const FIRST = new Set(['profit', 'roi'])
const FIRST_COLUMNS = LIST_COLUMNS.filter(({ id }) => FIRST.has(id))
const OTHER_COLUMNS = LIST_COLUMNS.filter(({ id }) => !FIRST.has(id))

type TableProps = {
  campaigns: readonly CampaignRow[]
  days: Days
  goal: Goal
  pending: true | undefined
  /** Only if every campaign is on this page: otherwise the largest of the page would look like the largest of all. */
  order?: { sort: string | undefined; onSort: (sort: string | undefined) => void }
}

export function CampaignTable({ campaigns, days, goal, pending, order }: TableProps) {
  const isNarrow = useIsNarrow()
  const report = useQuery(ask(readReportAsMember, { query: { dimension: 'campaign', ...boundsOf(days) } }))
  const rows = new Map(report.data?.rows.map(row => [row.key, counting(row, pending)]))
  const lines = campaigns.map(campaign => ({
    campaign,
    ...lineOf(rows.get(campaign.id) ?? NO_CLICKS, goal),
    // A missing row means 0 only once the report is loaded and not truncated.
    isUnknown: !rows.has(campaign.id) && report.data?.truncated !== false,
  }))
  return (
    <>
      <RefusalNote refused={report.error} className="mb-3" />
      <Table caption="Campaigns">
        <thead>
          <tr>
            <Head stay>
              <SelectPage />
              Name
            </Head>
            {isNarrow ? <FigureHeads columns={FIRST_COLUMNS} order={order} /> : <PlaceHeads />}
            <FigureHeads columns={isNarrow ? OTHER_COLUMNS : LIST_COLUMNS} order={order} />
            <ActionHead />
          </tr>
        </thead>
        <tbody>
          {sorted(lines, order?.sort).map(line => (
            <CampaignLine key={line.campaign.id} {...line} isNarrow={isNarrow} />
          ))}
          {lines.length > 1 && lines.every(({ isUnknown }) => !isUnknown) && (
            <TotalLine line={lineOf(withSpend(lines.map(({ row }) => row)), goal)} isNarrow={isNarrow} />
          )}
        </tbody>
      </Table>
      <CutDays days={days} source={withSpend(lines.map(({ row }) => row)).cost_source} />
    </>
  )
}

function PlaceHeads() {
  return (
    <>
      <Head>On</Head>
      <Head className="max-xl:hidden">Link</Head>
      {/* Hidden first: the money needs the room, and the campaign's page shows the destination too. */}
      <Head className="max-2xl:hidden">Leads to</Head>
    </>
  )
}

type Columns = typeof LIST_COLUMNS

function FigureHeads({ columns, order }: { columns: Columns; order: TableProps['order'] | undefined }) {
  return columns.map(({ id, title, means }) => {
    const { now, next } = orderBy(id, order?.sort)
    return (
      <Head
        key={id}
        numeric
        title={means}
        {...(order === undefined ? {} : { sort: { now, onSort: () => order.onSort(next) } })}
      >
        {title}
      </Head>
    )
  })
}

type LineProps = FigureLine & { campaign: CampaignRow; isNarrow: boolean }

function CampaignLine({ campaign, isNarrow, ...line }: LineProps) {
  const destinationOf = useDestinations()
  const figures = (columns: Columns) => <Figures columns={columns} line={line.isUnknown === true ? undefined : line} />
  const turn = <StateSwitch campaign={campaign} />
  return (
    <Row className={campaign.status === 'active' ? '' : 'text-ink-faint'}>
      <RowHead stay className="max-w-30 truncate sm:max-w-52 2xl:max-w-60" title={campaign.name}>
        <SelectBox id={campaign.id} name={campaign.name} />
        <Link to="/campaigns/$id" params={{ id: campaign.id }} className="underline-offset-2 hover:underline">
          {campaign.name}
        </Link>
        <TagDots ids={campaign.tag_ids} />
        {campaign.status === 'archived' && (
          <span className="ml-2">
            <Badge>Archived</Badge>
          </span>
        )}
      </RowHead>
      {isNarrow ? (
        <>
          {figures(FIRST_COLUMNS)}
          {figures(OTHER_COLUMNS)}
        </>
      ) : (
        <>
          <Cell>{turn}</Cell>
          <Cell className="max-xl:hidden">
            <span className="flex items-center gap-1">
              <span className="max-w-36 truncate font-mono text-sm text-ink-soft max-2xl:hidden">
                /c/{campaign.key}
              </span>
              <CopyButton text={addressOf(campaign)} label="Copy" look="quiet" about={campaign.name} />
            </span>
          </Cell>
          <Cell className="max-w-56 truncate max-2xl:hidden" title={destinationOf(campaign)}>
            {destinationOf(campaign)}
          </Cell>
          {figures(LIST_COLUMNS)}
        </>
      )}
      <ActionCell>
        {/* On a phone the switch stays in view while the figures scroll. */}
        <span className="flex items-center justify-end">
          {isNarrow && turn}
          <CampaignMenu campaign={campaign} />
        </span>
      </ActionCell>
    </Row>
  )
}

/** The figures of a line; dashes if they are unknown. */
function Figures({ columns, line }: { columns: Columns; line: FigureLine | undefined }): ReactNode {
  return columns.map(({ id, text, number, signed }) => {
    const value = line === undefined ? undefined : number(line)
    const sign = signed === true && value !== undefined && value !== 0
    return (
      <Cell
        key={id}
        numeric
        faint={value === undefined}
        className={sign ? (value > 0 ? 'text-good' : 'text-bad') : undefined}
      >
        {line === undefined ? NONE : text(line)}
      </Cell>
    )
  })
}

function TotalLine({ line, isNarrow }: { line: FigureLine; isNarrow: boolean }) {
  return (
    <Row className="font-medium [&>*]:border-t [&>*]:border-t-line-strong/50">
      <RowHead stay>Total</RowHead>
      {isNarrow ? (
        <>
          <Figures columns={FIRST_COLUMNS} line={line} />
          <Figures columns={OTHER_COLUMNS} line={line} />
        </>
      ) : (
        <>
          <Cell />
          <Cell className="max-xl:hidden" />
          <Cell className="max-2xl:hidden" />
          <Figures columns={LIST_COLUMNS} line={line} />
        </>
      )}
      <ActionCell />
    </Row>
  )
}

/** The totals of the lines. Their cost is known if any line has a cost. */
function withSpend(rows: readonly Totals[]): Totals {
  const withCost = rows.filter(row => row.cost !== undefined && row.cost_source != null)
  if (withCost.length === 0) return sumOf(rows)
  const cost = fromCents(withCost.reduce((all, row) => all + cents(row.cost ?? '0'), 0n))
  const isOfClicks = withCost.every(row => row.cost_source === 'link')
  return { ...sumOf(rows), cost, cost_source: isOfClicks ? 'link' : 'mixed' }
}

function useDestinations(): (campaign: CampaignRow) => string {
  const funnels = useQuery(ask(listFunnels, { query: { limit: 200 } })).data?.data ?? []
  const flows = useQuery(ask(listClickFlows, { query: { limit: 200 } })).data?.data ?? []
  const offers = useQuery(ask(listOffers, { query: { limit: 200 } })).data?.data ?? []
  const bots = useQuery(ask(listBots, { query: { limit: 200 } })).data?.data ?? []
  const channels = useQuery(ask(listChannels, { query: { limit: 200 } })).data?.data ?? []
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
    if (destination.type === 'bot' || destination.type === 'mini_app') {
      const bot = bots.find(({ id }) => id === destination.bot_id)
      const what = destination.type === 'bot' ? 'Bot' : 'Mini App of'
      return bot === undefined ? 'Telegram' : `${what} @${bot.username}`
    }
    if (destination.type === 'channel') {
      const channel = channels.find(({ id }) => id === destination.channel_id)
      return channel === undefined ? 'A channel' : `Channel ${channel.title}`
    }
    const name = funnels.find(({ id }) => id === destination.funnel_id)?.name
    return name === undefined ? 'A funnel' : `Funnel ${name}`
  }
}

function CampaignMenu({ campaign }: { campaign: CampaignRow }) {
  const navigate = useNavigate()
  // The report and the clicks open with the same days.
  const { range, from, to, pending } = route.useSearch()
  const { id, name } = campaign
  const days = { range, from, to }
  const copy = () =>
    copyText(addressOf(campaign)).then(
      () => notify('The link is copied', addressOf(campaign)),
      () => notify('The browser did not allow copying', addressOf(campaign)),
    )
  return (
    <RowMenu name={name}>
      <MenuItem icon={Pencil} onSelect={() => void navigate({ to: '/campaigns/$id', params: { id } })}>
        Open
      </MenuItem>
      <MenuItem icon={Copy} onSelect={() => void copy()}>
        Copy link
      </MenuItem>
      <CloneItem id={id} endpoint={createCampaign} to="/campaigns/new" />
      <HistoryItem kind="campaign" id={id} />
      <MenuItem
        icon={ChartNoAxesCombined}
        onSelect={() =>
          void navigate({ to: '/report', search: { ...days, pending, by: 'day', where: [['campaign', 'is', id]] } })
        }
      >
        Report
      </MenuItem>
      <MenuItem
        icon={MousePointerClick}
        onSelect={() => void navigate({ to: '/clicks', search: { ...days, campaign: id } })}
      >
        Clicks
      </MenuItem>
      <MenuItem icon={Trophy} onSelect={() => void navigate({ to: '/conversions', search: { campaign: id } })}>
        Conversions
      </MenuItem>
      <MenuLine />
      <ArchiveCampaignItem campaign={campaign} />
      <DeleteCampaignItem campaign={campaign} />
    </RowMenu>
  )
}
