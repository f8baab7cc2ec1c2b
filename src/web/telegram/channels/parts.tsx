/** The rules of a channel: invite links, joining, leaving. Each form is saved separately. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { EVENT_TYPE_LABELS, type EventType } from '../../../contract/event-types.ts'
import { type Message, messageFault } from '../../../contract/telegram-message.ts'
import { type ChannelChanges, updateChannel } from '../../../telegram/channels/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { Checkbox, SelectField, TextArea, TextField } from '../../ground/ui/field.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { type ChannelRow, SHOW_CHANNELS } from './state.tsx'

type Changes = z.input<typeof ChannelChanges>
type PartProps = { channel: ChannelRow }

function useSaving(id: string) {
  const refresh = useRefresh()
  const { role } = useActive()
  const save = useMutation({
    mutationFn: (body: Changes) => call(updateChannel, { params: { id }, body }),
    onSuccess: async () => {
      await refresh(...SHOW_CHANNELS)
      notify('Saved')
    },
  })
  return { save, reason: reasonAgainst(updateChannel, role) }
}

const wholeNumber = (text: string): number => Math.round(Number(text)) || 0

export function PoolPart({ channel }: PartProps) {
  const { save, reason } = useSaving(channel.id)
  const [pool_min, setPoolMin] = useState(String(channel.pool_min))
  const [link_days, setLinkDays] = useState(String(channel.link_days))
  return (
    <PartForm
      action="Save"
      reason={reason}
      save={save}
      onSubmit={() => save.mutate({ pool_min: wholeNumber(pool_min), link_days: wholeNumber(link_days) })}
    >
      <TextField
        label="Minimum links ready"
        className="max-w-xs"
        inputMode="numeric"
        hint="10 to 5,000. More are created in busy hours: twice the busiest ten minutes."
        value={pool_min}
        onChange={({ target }) => setPoolMin(target.value)}
      />
      <TextField
        label="Link lifetime, days"
        className="max-w-xs"
        inputMode="numeric"
        hint="1 to 30. A link is given out only while it has two days left, or half of a shorter lifetime."
        value={link_days}
        onChange={({ target }) => setLinkDays(target.value)}
      />
    </PartForm>
  )
}

type JoinDraft = {
  join_mode: ChannelRow['join_mode']
  on_request: ChannelRow['on_request']
  after: string
  hasMessage: boolean
  text: string
}

/** The text of a text message, else empty: other kinds are changed through the API only. */
const textOf = (message: ChannelRow['request_message']): string =>
  message !== null && 'text' in message ? message.text : ''

export function JoinPart({ channel }: PartProps) {
  const { save, reason } = useSaving(channel.id)
  const { join_mode, on_request, approve_after_s, request_message } = channel
  const [draft, setDraft] = useState<JoinDraft>({
    join_mode,
    on_request,
    after: String(approve_after_s),
    hasMessage: request_message !== null,
    text: textOf(request_message),
  })
  const set = (more: Partial<JoinDraft>) => setDraft(before => ({ ...before, ...more }))
  const isOther = request_message !== null && !('text' in request_message)
  const kept = request_message !== null && 'text' in request_message ? request_message : {}
  const message: z.input<typeof Message> = { ...kept, text: draft.text }
  const fault = draft.hasMessage && !isOther ? messageFault(message) : undefined
  const submit = () => {
    if (fault !== undefined) return
    const asks = draft.join_mode === 'request'
    const written = isOther && draft.hasMessage ? {} : { request_message: draft.hasMessage ? message : null }
    save.mutate({
      join_mode: draft.join_mode,
      ...(asks ? { on_request: draft.on_request, approve_after_s: wholeNumber(draft.after), ...written } : {}),
    })
  }
  return (
    <PartForm action="Save" reason={reason} save={save} onSubmit={submit}>
      <SelectField
        label="Links"
        className="max-w-xs"
        hint="After a change new links are created, which takes a minute."
        value={draft.join_mode}
        onChange={({ target }) => set({ join_mode: target.value === 'request' ? 'request' : 'open' })}
      >
        <option value="open">Let in at once</option>
        <option value="request">Send a join request</option>
      </SelectField>
      {draft.join_mode === 'request' && (
        <>
          <SelectField
            label="Join requests"
            className="max-w-xs"
            value={draft.on_request}
            onChange={({ target }) => set({ on_request: target.value === 'approve' ? 'approve' : 'leave' })}
          >
            <option value="leave">Decide by hand</option>
            <option value="approve">Approve automatically</option>
          </SelectField>
          {draft.on_request === 'approve' && (
            <TextField
              label="Approve after, seconds"
              className="max-w-xs"
              inputMode="numeric"
              hint="0 to 86,400."
              value={draft.after}
              onChange={({ target }) => set({ after: target.value })}
            />
          )}
          <Checkbox
            label="Message people who ask to join"
            words="Telegram allows this for five minutes and only before the decision, so the message is sent first."
            checked={draft.hasMessage}
            onChange={({ target }) => set({ hasMessage: target.checked })}
          />
          {draft.hasMessage && isOther && <Note>This message has a file or is a copy. Change it through the API.</Note>}
          {draft.hasMessage && !isOther && (
            <TextArea
              label="Message"
              rows={4}
              hint="Telegram’s HTML: <b>, <i>, <a href>. Macros: {first_name|friend} and {sub1} to {sub9}."
              error={fault}
              value={draft.text}
              onChange={({ target }) => set({ text: target.value })}
            />
          )}
        </>
      )}
    </PartForm>
  )
}

const CUSTOM = Object.keys(EVENT_TYPE_LABELS).filter(type => type.startsWith('custom_')) as EventType[]

export function LeavePart({ channel }: PartProps) {
  const { save, reason } = useSaving(channel.id)
  const [event, setEvent] = useState(channel.leave_event ?? '')
  const [hours, setHours] = useState(String(channel.leave_window_h ?? 72))
  const [shared_joins, setShared] = useState(channel.shared_joins)
  const submit = () =>
    save.mutate({ leave_event: event || null, leave_window_h: event === '' ? null : wholeNumber(hours), shared_joins })
  return (
    <PartForm action="Save" reason={reason} save={save} onSubmit={submit}>
      <SelectField
        label="Record a leave as"
        className="max-w-xs"
        value={event}
        onChange={({ target }) => setEvent(target.value)}
      >
        <option value="">Do not record</option>
        {CUSTOM.map(type => (
          <option key={type} value={type}>
            {EVENT_TYPE_LABELS[type]}
          </option>
        ))}
      </SelectField>
      {event !== '' && (
        <TextField
          label="If within, hours after the join"
          className="max-w-xs"
          inputMode="numeric"
          hint="Once per person."
          value={hours}
          onChange={({ target }) => setHours(target.value)}
        />
      )}
      <SelectField
        label="Joins by a campaign’s shared link"
        className="max-w-xs"
        hint="Visitors get the shared link when no own link is left. Their joins cannot be attributed with certainty."
        value={shared_joins}
        onChange={({ target }) => setShared(target.value === 'organic' ? 'organic' : 'attribute')}
      >
        <option value="attribute">Credit to the campaign’s latest click</option>
        <option value="organic">Count as organic</option>
      </SelectField>
    </PartForm>
  )
}
