/** The list of channels and groups: state, invite links that are ready, and joins of the last 30 days. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { MessagesSquare } from 'lucide-react'
import type { z } from 'zod'
import { DAY_MS, MINUTE_MS, dayOf } from '../../../contract/days.ts'
import { createChannel, listChannels } from '../../../telegram/channels/api.ts'
import { type ChannelFigures, readChannelFigures } from '../../../telegram/members/api.ts'
import { ask } from '../../ground/call.ts'
import { CertaintyStrip } from '../../ground/certainty.tsx'
import { count, NONE, percent, ratio } from '../../ground/figures/figures.ts'
import { useNow } from '../../ground/figures/now.ts'
import { useListAddress } from '../../ground/ui/list.tsx'
import { ListPage } from '../../ground/ui/list-page.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { costPerPerson } from './figures.tsx'
import { AddChannelDialog } from './add-dialog.tsx'
import { type ChannelRow, KIND_WORDS, PoolGauge, ChannelStateBadge } from './state.tsx'

const route = getRouteApi('/inside/channels')

export function ChannelsPage() {
  const address = useListAddress(route.useSearch())
  const channels = useQuery({
    ...ask(listChannels, { query: address.search }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  })
  return (
    <ListPage
      title="Channels"
      words="Each click into a channel gets its own invite link, so that the join is recorded on that click."
      query={channels}
      address={address}
      empty={{
        icon: MessagesSquare,
        words:
          'Make one of your bots an administrator of a channel or group, with the right to invite users. Then add it here.',
      }}
      add={{
        endpoint: createChannel,
        words: 'Add channel',
        dialog: ({ open, onClose }) => <AddChannelDialog open={open} onClose={onClose} />,
      }}
    >
      {rows => <ChannelTable channels={rows} />}
    </ListPage>
  )
}

const DAYS = 30

function ChannelTable({ channels }: { channels: readonly ChannelRow[] }) {
  // UTC days, because spend is booked by UTC day.
  const date_to = dayOf(useNow())
  const date_from = dayOf(Date.parse(date_to) - (DAYS - 1) * DAY_MS)
  const figures = useQuery({
    ...ask(readChannelFigures, { query: { date_from, date_to } }),
    placeholderData: keepPreviousData,
    refetchInterval: MINUTE_MS,
  })
  return (
    <>
      <Table caption="Channels">
        <thead>
          <tr>
            <Head stay>Channel</Head>
            <Head>State</Head>
            <Head title="Invite links not yet given to a click">Links ready</Head>
            <Head numeric>Clicks</Head>
            <Head numeric>Requests</Head>
            <Head numeric>Joins</Head>
            <Head numeric title="Of joins at least seven days old">
              Stayed 7 d
            </Head>
            <Head numeric>Cost/join, $</Head>
            <Head numeric title="Cost per join divided by the share that stayed 7 days">
              Cost/stayer, $
            </Head>
            <Head>Attribution</Head>
            <Head numeric>Members</Head>
          </tr>
        </thead>
        <tbody>
          {channels.map(channel => (
            <ChannelLine
              key={channel.id}
              channel={channel}
              figures={figures.data?.rows.find(({ key }) => key === channel.id)}
            />
          ))}
        </tbody>
      </Table>
      <p className="mt-2 text-sm text-ink-faint">Clicks, joins and cost: the last {DAYS} UTC days.</p>
    </>
  )
}

type LineProps = { channel: ChannelRow; figures: z.input<typeof ChannelFigures> | undefined }

function ChannelLine({ channel, figures }: LineProps) {
  const { id, title, username, kind, member_count } = channel
  return (
    <Row>
      <RowHead stay title={username === null ? `${KIND_WORDS[kind]}, private` : `${KIND_WORDS[kind]} @${username}`}>
        <Link to="/channels/$id" params={{ id }} className="hover:text-accent">
          {title}
        </Link>
      </RowHead>
      <Cell>
        <ChannelStateBadge channel={channel} />
      </Cell>
      <Cell>
        <PoolGauge channel={channel} />
      </Cell>
      <FigureCells figures={figures} />
      <Cell numeric faint={member_count === null}>
        {member_count === null ? NONE : count(member_count)}
      </Cell>
    </Row>
  )
}

function FigureCells({ figures }: Pick<LineProps, 'figures'>) {
  if (figures === undefined) return <Cell colSpan={7} />
  const { clicks, requests, joins, stays, cost_per_join, cost_per_stayer, certainty } = figures
  const { matured, stayed } = stays[7]
  return (
    <>
      <Cell numeric>{count(clicks)}</Cell>
      <Cell numeric faint={requests === 0}>
        {count(requests)}
      </Cell>
      <Cell numeric>{count(joins)}</Cell>
      <Cell numeric faint={matured === 0} title={`${count(stayed)} of ${count(matured)}`}>
        {percent(ratio(stayed, matured))}
      </Cell>
      <Cell numeric>{costPerPerson(cost_per_join)}</Cell>
      <Cell numeric>{costPerPerson(cost_per_stayer)}</Cell>
      <Cell>
        <CertaintyStrip shares={certainty} />
      </Cell>
    </>
  )
}
