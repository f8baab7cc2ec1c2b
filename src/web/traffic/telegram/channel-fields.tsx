/** A channel that visitors are led into: which, under which name of Telegram, and whether it is ready to take them. */
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
type Place = {
  readonly open?: 'direct' | 'page' | null | undefined
  readonly link_host?: (typeof LINK_HOSTS)[number] | null | undefined
}

/** The channels of the workspace, newest first; undefined while they are asked for. Looked at again, because a bot may lose its right. */
function useChannels(): readonly ChannelRow[] | undefined {
  return useQuery({ ...ask(listChannels, { query: { limit: 200 } }), refetchInterval: 30_000 }).data?.data
}

type FieldProps = {
  place: Place & { readonly channel_id: string }
  fault: string | undefined
  change: (changes: Partial<Place> & { channel_id?: string }) => void
}

/** Chooses a channel and says how it is entered. */
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
              There is none yet. Add one under <ChannelsLink />.
            </>
          ) : (
            'Each click gets an invite link of its own, so that a join belongs to the click it came by.'
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

type EntranceProps = { place: Place; channel_id: string; change: (changes: Partial<Place>) => void }

export function EntranceFields({ place, channel_id, change }: EntranceProps) {
  const channel = useChannels()?.find(({ id }) => id === channel_id)
  const [short, long] = LINK_HOSTS
  return (
    <>
      <SelectField
        label="Link host"
        className="max-w-xs"
        hint="Both lead to the same place. Some networks refuse one of them."
        value={place.link_host ?? short}
        onChange={({ target }) => change({ link_host: target.value === long ? long : short })}
      >
        {LINK_HOSTS.map(host => (
          <option key={host}>{host}</option>
        ))}
      </SelectField>
      <Checkbox
        label="Open by a page of its own"
        words="For ads inside other apps, whose browsers keep visitors from Telegram: the page tries to open it, and shows a button."
        checked={place.open === 'page'}
        onChange={({ target }) => change({ open: target.checked ? 'page' : 'direct' })}
      />
      {channel !== undefined && <Readiness channel={channel} />}
    </>
  )
}

/** How the channel is, and how many visitors it could take at once. */
function Readiness({ channel }: { channel: ChannelRow }) {
  const { state, state_reason, title, pool, is_public } = channel
  if (state !== 'ready')
    return (
      <Note kind="warning">
        <strong>No links can be made for {title}.</strong> {state_reason} Links that are ready are still given; see{' '}
        <ChannelsLink />.
      </Note>
    )
  const ready = pool.free + pool.leased
  return (
    <Note kind={is_public ? 'warning' : 'plain'}>
      {ready === 0
        ? 'Its first links are being made.'
        : `Ready: ${count(ready)} links wait for clicks, and more are made as they are used.`}
      {is_public &&
        ' It is public: who opens it by its name joins without a link, so not every join can be told to belong to a click. A private channel is sure.'}
    </Note>
  )
}

const ChannelsLink = () => (
  <Link to="/channels" className="text-accent underline-offset-2 hover:underline">
    Channels
  </Link>
)
