/** The dialog that adds a channel. It links to Telegram to make the bot an administrator, and lists chats where the bot already is one. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { ExternalLink } from 'lucide-react'
import { useState } from 'react'
import { createChannel, listChannels, listOfferedChats } from '../../../telegram/channels/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { KIND_WORDS } from './state.tsx'

export function AddChannelDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Add channel">
      <AddForm onClose={onClose} />
    </Dialog>
  )
}

/** Polled, because people make the bot an administrator in Telegram while the dialog is open. */
const useOfferedChats = () => useQuery({ ...ask(listOfferedChats, {}), refetchInterval: 3000 }).data

function AddForm({ onClose }: { onClose: () => void }) {
  const refresh = useRefresh()
  const navigate = useNavigate()
  const { role } = useActive()
  const offered = useOfferedChats()
  const [chosen, setChosen] = useState('')
  const [chat_id, setChatId] = useState('')
  const add = useMutation({
    mutationFn: (body: { bot_id: string; chat_id: string }) => call(createChannel, { body }),
    onSuccess: async channel => {
      await refresh(listChannels, listOfferedChats)
      onClose()
      notify(`${channel.title} added`, 'Its first invite links are being created.')
      await navigate({ to: '/channels/$id', params: { id: channel.id } })
    },
  })
  const bots = offered?.bots ?? []
  const bot = bots.find(one => one.bot_id === chosen) ?? bots[0]
  const reason = reasonAgainst(createChannel, role)
  if (offered !== undefined && bots.length === 0) return <NoBots onClose={onClose} />
  return (
    <DialogForm onSubmit={() => bot !== undefined && add.mutate({ bot_id: bot.bot_id, chat_id: chat_id.trim() })}>
      <DialogBody>
        <SelectField
          label="Bot"
          hint="It must be an administrator of the channel, with the right to invite users."
          value={bot?.bot_id ?? ''}
          onChange={({ target }) => setChosen(target.value)}
        >
          {bots.map(({ bot_id, username }) => (
            <option key={bot_id} value={bot_id}>
              @{username}
            </option>
          ))}
        </SelectField>
        {bot !== undefined && <AddLinks bot={bot} />}
        <OfferedChats
          offered={(offered?.data ?? []).filter(one => one.bot_id === bot?.bot_id)}
          pending={add.isPending}
          reason={reason}
          onAdd={add.mutate}
        />
        <TextField
          label="Other channel"
          optional
          placeholder="@name or -1001234567890"
          autoComplete="off"
          hint="The @name of a public channel or group, or the chat id of any."
          value={chat_id}
          onChange={({ target }) => setChatId(target.value)}
        />
        <RefusalNote refused={add.error} />
      </DialogBody>
      <SaveFoot
        action="Add channel"
        pending={add.isPending}
        reason={reason ?? (chat_id.trim() === '' ? 'Choose a channel above, or enter its name' : undefined)}
        onCancel={onClose}
      />
    </DialogForm>
  )
}

function AddLinks({
  bot: { username, channel_link, group_link },
}: {
  bot: { username: string; channel_link: string; group_link: string }
}) {
  const link = (href: string, words: string) => (
    <a
      href={href}
      target="_blank"
      rel="noreferrer"
      className="inline-flex items-center gap-1 text-accent hover:underline"
    >
      {words}
      <ExternalLink aria-hidden className="size-3.5" />
    </a>
  )
  return (
    <p className="text-ink-soft">
      Make @{username} an administrator of {link(channel_link, 'a channel')} or {link(group_link, 'a group')} in
      Telegram. The chat then appears here.
    </p>
  )
}

type OfferedChat = {
  bot_id: string
  chat_id: string
  title: string
  username: string | null
  kind: 'channel' | 'supergroup' | 'group'
  can_invite: boolean
}
type OfferedChatsProps = {
  offered: readonly OfferedChat[]
  pending: boolean
  reason: string | undefined
  onAdd: (body: { bot_id: string; chat_id: string }) => void
}

function OfferedChats({ offered, pending, reason, onAdd }: OfferedChatsProps) {
  if (offered.length === 0) return null
  return (
    <ul
      aria-label="Chats where the bot is an administrator"
      className="flex flex-col divide-y divide-line rounded-md border border-line"
    >
      {offered.map(({ bot_id, chat_id, title, username, kind, can_invite }) => (
        <li key={chat_id} className="flex items-center gap-3 px-3 py-2">
          <span className="min-w-0 flex-1">
            <span className="block truncate font-medium">{title}</span>
            <span className="block truncate text-sm text-ink-faint">
              {KIND_WORDS[kind]}
              {username === null ? ', private' : ` @${username}`}
            </span>
          </span>
          <Button
            type="button"
            size="sm"
            pending={pending}
            reason={reason ?? (can_invite ? undefined : 'The bot may not invite users: give it that right in Telegram')}
            onClick={() => onAdd({ bot_id, chat_id })}
          >
            Add
          </Button>
        </li>
      ))}
    </ul>
  )
}

function NoBots({ onClose }: { onClose: () => void }) {
  return (
    <DialogBody>
      <Note>
        <strong>A channel needs a bot.</strong> Add one under{' '}
        <Link to="/bots" className="text-accent underline-offset-2 hover:underline" onClick={onClose}>
          Bots
        </Link>{' '}
        first, then make it an administrator of the channel.
      </Note>
    </DialogBody>
  )
}
