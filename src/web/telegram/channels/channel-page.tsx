/** One channel: who came and stayed, how it is and what is missing, its links, its rules, and the campaigns that lead there. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { ChevronLeft } from 'lucide-react'
import { checkChannel, deleteChannel, readChannel } from '../../../telegram/channels/api.ts'
import { listCampaigns } from '../../../traffic/campaigns/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { ago, count, day, moment } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Asked, PageHeader, Setting } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notifyDone } from '../../ground/ui/toast.tsx'
import { ChannelFigures } from './figures.tsx'
import { ChannelMembers } from './members.tsx'
import { JoinPart, LeavePart, PoolPart } from './parts.tsx'
import { ChannelRequests } from './requests.tsx'
import { type ChannelRow, KIND_WORDS, PoolGauge, SHOW_CHANNELS, StateBadge } from './state.tsx'

const route = getRouteApi('/inside/channels/$id')

export function ChannelPage() {
  const { id } = route.useParams()
  const channel = useQuery({ ...ask(readChannel, { params: { id } }), refetchInterval: 10_000 })
  return (
    <>
      <Link to="/channels" className="mb-2 inline-flex items-center gap-1 text-ink-soft hover:text-ink">
        <ChevronLeft aria-hidden className="size-3.5" />
        Channels
      </Link>
      <Asked query={channel} title="Channel">
        {found => <ChannelDetail key={found.id} channel={found} />}
      </Asked>
    </>
  )
}

function ChannelDetail({ channel }: { channel: ChannelRow }) {
  const { title, username, kind, member_count, created_at } = channel
  const facts = [
    username === null ? `${KIND_WORDS[kind]}, private` : `${KIND_WORDS[kind]} @${username}`,
    member_count === null ? undefined : `${count(member_count)} members`,
    `added ${day(created_at)}`,
  ]
  return (
    <>
      <PageHeader
        title={title}
        words={
          <span className="flex flex-wrap items-center gap-2">
            <StateBadge channel={channel} />
            {facts.filter(fact => fact !== undefined).join(' · ')}
          </span>
        }
      >
        <CheckButton channel={channel} />
      </PageHeader>
      <ChannelFigures channel={channel} />
      <ChannelRequests channel={channel} />
      <ChannelMembers channel={channel} />
      <Setting title="State" words="What the bot may do there. Telegram tells when that changes.">
        <StateWords channel={channel} />
      </Setting>
      <Setting
        title="Links"
        words="Made beforehand, so that no visitor waits for Telegram. One that nobody has used ends by itself."
      >
        <LinkFigures channel={channel} />
        <PoolPart key={`${channel.pool_min} ${channel.link_days}`} channel={channel} />
      </Setting>
      <Setting title="Joining" words="Whether a link lets in or asks, and what is done about those who ask.">
        <JoinPart
          key={JSON.stringify([channel.join_mode, channel.on_request, channel.request_message])}
          channel={channel}
        />
      </Setting>
      <Setting
        title="Leaving"
        words="A leave may be recorded as one of your own events, to be told to whoever pays for joins."
      >
        <LeavePart key={`${channel.leave_event} ${channel.leave_window_h} ${channel.shared_joins}`} channel={channel} />
      </Setting>
      <Setting title="Campaigns" words="Those that lead here by themselves. Click flows may lead here too.">
        <Campaigns id={channel.id} />
      </Setting>
      <Setting
        title="Delete"
        danger
        words="Campaigns that lead here go to their fallback. Links that were given work on until they end."
      >
        <DeletePart channel={channel} />
      </Setting>
    </>
  )
}

function CheckButton({ channel: { id } }: { channel: ChannelRow }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const check = useMutation({
    mutationFn: () => call(checkChannel, { params: { id } }),
    onSuccess: () => refresh(...SHOW_CHANNELS),
  })
  return (
    <>
      <RefusalNote refused={check.error} />
      <Button pending={check.isPending} reason={reasonAgainst(checkChannel, role)} onClick={() => check.mutate()}>
        Check now
      </Button>
    </>
  )
}

const MENDS: Record<Exclude<ChannelRow['state'], 'ready'>, string> = {
  no_rights: 'In Telegram: the channel’s settings, Administrators, the bot, then switch on “Invite Users via Link”.',
  not_admin: 'In Telegram: the channel’s settings, Administrators, Add Admin, then choose the bot.',
  gone: 'If it was deleted at Telegram, delete it here too. If the bot was put out, make it an administrator again.',
}

function StateWords({ channel }: { channel: ChannelRow }) {
  const { state, state_reason, checked_at } = channel
  return (
    <div className="flex flex-col gap-3" aria-live="polite">
      {state === 'ready' ? (
        <p>The bot may make invite links here.</p>
      ) : (
        <Note kind="warning">
          <strong>No links can be made.</strong> {state_reason} {MENDS[state]} Links that are ready are still given.
        </Note>
      )}
      {state === 'ready' && state_reason !== null && <Note kind="warning">{state_reason}</Note>}
      {checked_at !== null && <p className="text-sm text-ink-faint">Telegram was asked {ago(checked_at)}.</p>}
    </div>
  )
}

function LinkFigures({ channel }: { channel: ChannelRow }) {
  const { pool } = channel
  return (
    <div className="mb-4 flex flex-col gap-1">
      <p className="flex flex-wrap items-center gap-x-3">
        <PoolGauge channel={channel} /> ready for clicks
        {pool.leased > 0 && (
          <span className="text-ink-faint">{count(pool.leased)} of them held by serving processes</span>
        )}
      </p>
      <p className="text-sm text-ink-faint">
        In the last 24 hours {count(pool.granted_24h)} clicks were given one, and {count(pool.made_24h)} were made.
        {pool.waiting_until !== null && ` Telegram has asked for none until ${moment(pool.waiting_until)}.`}
      </p>
    </div>
  )
}

function Campaigns({ id }: { id: string }) {
  const campaigns = useQuery(ask(listCampaigns, { query: { limit: 200, status: 'all' } }))
  const leading = (campaigns.data?.data ?? []).filter(
    ({ destination }) => destination.type === 'channel' && destination.channel_id === id,
  )
  if (campaigns.data === undefined) return null
  if (leading.length === 0)
    return (
      <p className="text-ink-soft">None yet. Choose Telegram, then the channel, as where a campaign’s visitors go.</p>
    )
  return (
    <ul className="flex flex-col gap-1">
      {leading.map(({ id: campaign, name, status }) => (
        <li key={campaign}>
          <Link
            to="/campaigns/$id"
            params={{ id: campaign }}
            className="text-accent underline-offset-2 hover:underline"
          >
            {name}
          </Link>
          {status !== 'active' && <span className="text-ink-faint"> ({status})</span>}
        </li>
      ))}
    </ul>
  )
}

function DeletePart({ channel: { id, title } }: { channel: ChannelRow }) {
  const confirm = useConfirm()
  const navigate = useNavigate()
  const { role } = useActive()
  const remove = () =>
    confirm({
      title: `Delete ${title}?`,
      words:
        'Campaigns that lead there, also by a click flow, go to their fallback from then on. Nothing changes at Telegram; added again it is the same channel, and nobody is counted twice.',
      action: 'Delete channel',
      deed: async () => {
        const answered = await call(deleteChannel, { params: { id } })
        await navigate({ to: '/channels' })
        notifyDone(`${title} is deleted`, answered)
      },
      refresh: [...SHOW_CHANNELS],
    })
  return (
    <Button look="danger" reason={reasonAgainst(deleteChannel, role)} onClick={remove}>
      Delete channel
    </Button>
  )
}
