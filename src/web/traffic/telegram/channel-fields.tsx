/** The destination fields of a channel: which channel, which host of Telegram, and whether the channel is ready for visitors. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { z } from 'zod'
import { LINK_HOSTS } from '../../../contract/telegram.ts'
import { type Channel, listChannels } from '../../../telegram/channels/api.ts'
import { ask } from '../../ground/call.ts'
import { count } from '../../ground/figures/figures.ts'
import { Checkbox, SelectField } from '../../ground/ui/field.tsx'
import { Note } from '../../ground/ui/refusal.tsx'

type ChannelRow = z.input<typeof Channel>
type Entrance = {
  readonly open?: 'direct' | 'page' | null | undefined
  readonly link_host?: (typeof LINK_HOSTS)[number] | null | undefined
}

/** The channels of the workspace, newest first; undefined while they load. Reloaded every 30 seconds, because a bot may lose its right. */
function useChannels(): readonly ChannelRow[] | undefined {
  return useQuery({ ...ask(listChannels, { query: { limit: 200 } }), refetchInterval: 30_000 }).data?.data
}

type FieldProps = {
  place: Entrance & { readonly channel_id: string }
  fault: string | undefined
  change: (changes: Partial<Entrance> & { channel_id?: string }) => void
}

/** Chooses a channel and how its link opens. */
export function ChannelField({ place, fault, change }: FieldProps) {
  const channels = useChannels()
  const { channel_id } = place
  return (
    <>
      <SelectField
        label="Channel"
        className="max-w-xs"
        hint={
          channels?.length === 0 ? (
            <>
              None yet. Add one under <ChannelsLink />.
            </>
          ) : (
            'Each click gets its own invite link, so that a join is credited to its click.'
          )
        }
        error={fault !== undefined && channel_id === '' ? 'Choose a channel.' : fault}
        value={channel_id}
        onChange={({ target }) => change({ channel_id: target.value })}
      >
        <option value="">Choose a channel</option>
        {channel_id !== '' && channels?.every(({ id }) => id !== channel_id) && (
          <option value={channel_id}>{channel_id}</option>
        )}
        {channels?.map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </SelectField>
      <EntranceFields place={place} channel_id={channel_id} change={change} />
    </>
  )
}

type EntranceProps = { place: Entrance; channel_id: string; change: (changes: Partial<Entrance>) => void }

export function EntranceFields({ place, channel_id, change }: EntranceProps) {
  const channel = useChannels()?.find(({ id }) => id === channel_id)
  const [short, long] = LINK_HOSTS
  return (
    <>
      <SelectField
        label="Link host"
        className="max-w-xs"
        hint="Both open the same chat. Some networks refuse one of them."
        value={place.link_host ?? short}
        onChange={({ target }) => change({ link_host: target.value === long ? long : short })}
      >
        {LINK_HOSTS.map(host => (
          <option key={host}>{host}</option>
        ))}
      </SelectField>
      <Checkbox
        label="Open through a page"
        words="For ads inside other apps, whose browsers do not open Telegram: the page tries to open it and shows a button."
        checked={place.open === 'page'}
        onChange={({ target }) => change({ open: target.checked ? 'page' : 'direct' })}
      />
      {channel !== undefined && <Readiness channel={channel} />}
    </>
  )
}

/** The state of the channel, and how many visitors it could take now. */
function Readiness({ channel }: { channel: ChannelRow }) {
  const { state, state_reason, title, pool, is_public } = channel
  if (state !== 'ready')
    return (
      <Note kind="warning">
        <strong>No links can be made for {title}.</strong> {state_reason} Links made before are still given out. See{' '}
        <ChannelsLink />.
      </Note>
    )
  const ready = pool.free + pool.leased
  return (
    <Note kind={is_public ? 'warning' : 'plain'}>
      {ready === 0
        ? 'Its first links are being made.'
        : `Ready: ${count(ready)} invite links. More are made as they are used.`}
      {is_public &&
        ' It is public: people can join by its name without a link, so some joins cannot be matched to a click. A private channel matches every join.'}
    </Note>
  )
}

const ChannelsLink = () => (
  <Link to="/channels" className="text-accent underline-offset-2 hover:underline">
    Channels
  </Link>
)
