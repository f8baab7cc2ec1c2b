/** One channel: joins and stays, state, invite links, rules, and the campaigns that lead there. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { checkChannel, deleteChannel, readChannel } from '../../../telegram/channels/api.ts'
import { listCampaigns } from '../../../traffic/campaigns/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { ago, count, day, moment } from '../../ground/figures/figures.ts'
import { ObjectHistory } from '../../ground/history/object-history.tsx'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Loaded, PageHeader, Setting } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notifyDone } from '../../ground/ui/toast.tsx'
import { ChannelFigures } from './figures.tsx'
import { ChannelMembers } from './members.tsx'
import { JoinPart, LeavePart, PoolPart } from './parts.tsx'
import { ChannelRequests } from './requests.tsx'
import { type ChannelRow, KIND_WORDS, PoolGauge, SHOW_CHANNELS, ChannelStateBadge } from './state.tsx'

const route = getRouteApi('/inside/channels/$id')

export function ChannelPage() {
  const { id } = route.useParams()
  const channel = useQuery({ ...ask(readChannel, { params: { id } }), refetchInterval: 10_000 })
  return (
    <>
      <BackLink to="/channels">Channels</BackLink>
      <Loaded query={channel} title="Channel">
        {found => <ChannelDetail key={found.id} channel={found} />}
      </Loaded>
      <ObjectHistory kind="channel" id={id} />
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
            <ChannelStateBadge channel={channel} />
            {facts.filter(fact => fact !== undefined).join(' · ')}
          </span>
        }
      >
        <CheckButton channel={channel} />
      </PageHeader>
      <ChannelFigures channel={channel} />
      <ChannelRequests channel={channel} />
      <ChannelMembers channel={channel} />
      <Setting title="State" words="The bot’s rights in the channel, updated by Telegram.">
        <StateWords channel={channel} />
      </Setting>
      <Setting
        title="Invite links"
        words="Created in advance, so that no visitor waits for Telegram. Unused links expire."
      >
        <LinkFigures channel={channel} />
        <PoolPart key={`${channel.pool_min} ${channel.link_days}`} channel={channel} />
      </Setting>
      <Setting
        title="Joining"
        words="Whether a link lets visitors in or sends a join request, and how requests are handled."
      >
        <JoinPart
          key={JSON.stringify([channel.join_mode, channel.on_request, channel.request_message])}
          channel={channel}
        />
      </Setting>
      <Setting title="Leaving" words="You can record a leave as a custom event and report it by postback.">
        <LeavePart key={`${channel.leave_event} ${channel.leave_window_h} ${channel.shared_joins}`} channel={channel} />
      </Setting>
      <Setting title="Campaigns" words="Campaigns that lead directly here. Click flows may lead here too.">
        <Campaigns id={channel.id} />
      </Setting>
      <Setting
        title="Delete"
        danger
        words="Visitors of campaigns that lead here go to the fallback. Links already given work until they expire."
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

const REPAIRS: Record<Exclude<ChannelRow['state'], 'ready'>, string> = {
  no_rights: 'In Telegram: the channel’s settings, Administrators, the bot, then switch on “Invite Users via Link”.',
  not_admin: 'In Telegram: the channel’s settings, Administrators, Add Admin, then choose the bot.',
  gone: 'If the channel was deleted in Telegram, delete it here too. If the bot was removed, make it an administrator again.',
}

function StateWords({ channel }: { channel: ChannelRow }) {
  const { state, state_reason, checked_at } = channel
  return (
    <div className="flex flex-col gap-3" aria-live="polite">
      {state === 'ready' ? (
        <p>The bot can create invite links here.</p>
      ) : (
        <Note kind="warning">
          <strong>No links can be created.</strong> {state_reason} {REPAIRS[state]} Links that are ready are still given
          out.
        </Note>
      )}
      {state === 'ready' && state_reason !== null && <Note kind="warning">{state_reason}</Note>}
      {checked_at !== null && <p className="text-sm text-ink-faint">Checked {ago(checked_at)}.</p>}
    </div>
  )
}

function LinkFigures({ channel }: { channel: ChannelRow }) {
  const { pool } = channel
  return (
    <div className="mb-4 flex flex-col gap-1">
      <p className="flex flex-wrap items-center gap-x-3">
        <PoolGauge channel={channel} /> ready for clicks
        {pool.leased > 0 && <span className="text-ink-faint">{count(pool.leased)} of them reserved by the server</span>}
      </p>
      <p className="text-sm text-ink-faint">
        In the last 24 hours {count(pool.granted_24h)} were given to clicks and {count(pool.made_24h)} created.
        {pool.waiting_until !== null && ` Telegram rate limits us until ${moment(pool.waiting_until)}.`}
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
      <p className="text-ink-soft">
        None yet. In a campaign, choose Telegram and then this channel under “Visitors go to”.
      </p>
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
        'Visitors of campaigns and click flows that lead there go to the fallback. Nothing changes in Telegram. If you add the channel again, nobody is counted twice.',
      action: 'Delete channel',
      deed: async () => {
        const answered = await call(deleteChannel, { params: { id } })
        await navigate({ to: '/channels' })
        notifyDone(`${title} deleted`, answered)
      },
      refresh: [...SHOW_CHANNELS],
    })
  return (
    <Button look="danger" reason={reasonAgainst(deleteChannel, role)} onClick={remove}>
      Delete channel
    </Button>
  )
}
