/** The rules of a channel: how many links, how one gets in, what a leave is. Each part is saved by itself. */
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

const whole = (text: string): number => Math.round(Number(text)) || 0

export function PoolPart({ channel }: PartProps) {
  const { save, reason } = useSaving(channel.id)
  const [pool_min, setPoolMin] = useState(String(channel.pool_min))
  const [link_days, setLinkDays] = useState(String(channel.link_days))
  return (
    <PartForm
      action="Save"
      reason={reason}
      save={save}
      onSubmit={() => save.mutate({ pool_min: whole(pool_min), link_days: whole(link_days) })}
    >
      <TextField
        label="Links kept ready, at least"
        className="max-w-xs"
        inputMode="numeric"
        hint="10 to 5,000. Busy hours get twice their busiest ten minutes by themselves."
        value={pool_min}
        onChange={({ target }) => setPoolMin(target.value)}
      />
      <TextField
        label="A link works for, days"
        className="max-w-xs"
        inputMode="numeric"
        hint="1 to 30. It is given only while two days of it are left, or half of fewer."
        value={link_days}
        onChange={({ target }) => setLinkDays(target.value)}
      />
    </PartForm>
  )
}

type Draft = {
  join_mode: ChannelRow['join_mode']
  on_request: ChannelRow['on_request']
  after: string
  says: boolean
  text: string
}

/** The text of a message that has nothing but one; others are changed over the API. */
const textOf = (message: ChannelRow['request_message']): string =>
  message !== null && 'text' in message ? message.text : ''

export function JoinPart({ channel }: PartProps) {
  const { save, reason } = useSaving(channel.id)
  const { join_mode, on_request, approve_after_s, request_message } = channel
  const [draft, setDraft] = useState<Draft>({
    join_mode,
    on_request,
    after: String(approve_after_s),
    says: request_message !== null,
    text: textOf(request_message),
  })
  const set = (more: Partial<Draft>) => setDraft(before => ({ ...before, ...more }))
  const isOther = request_message !== null && !('text' in request_message)
  const kept = request_message !== null && 'text' in request_message ? request_message : {}
  const message: z.input<typeof Message> = { ...kept, text: draft.text }
  const fault = draft.says && !isOther ? messageFault(message) : undefined
  const submit = () => {
    if (fault !== undefined) return
    const asks = draft.join_mode === 'request'
    const said = isOther && draft.says ? {} : { request_message: draft.says ? message : null }
    save.mutate({
      join_mode: draft.join_mode,
      ...(asks ? { on_request: draft.on_request, approve_after_s: whole(draft.after), ...said } : {}),
    })
  }
  return (
    <PartForm action="Save" reason={reason} save={save} onSubmit={submit}>
      <SelectField
        label="A link"
        className="max-w-xs"
        hint="With another choice links are made anew, which takes a minute."
        value={draft.join_mode}
        onChange={({ target }) => set({ join_mode: target.value === 'request' ? 'request' : 'open' })}
      >
        <option value="open">lets in at once</option>
        <option value="request">asks to be let in</option>
      </SelectField>
      {draft.join_mode === 'request' && (
        <>
          <SelectField
            label="Those who ask are"
            className="max-w-xs"
            value={draft.on_request}
            onChange={({ target }) => set({ on_request: target.value === 'approve' ? 'approve' : 'leave' })}
          >
            <option value="leave">left to people</option>
            <option value="approve">let in by themselves</option>
          </SelectField>
          {draft.on_request === 'approve' && (
            <TextField
              label="After, seconds"
              className="max-w-xs"
              inputMode="numeric"
              hint="0 to 86,400."
              value={draft.after}
              onChange={({ target }) => set({ after: target.value })}
            />
          )}
          <Checkbox
            label="Write to who asks"
            words="Telegram lets the bot write within five minutes, until the request is decided. So it writes first."
            checked={draft.says}
            onChange={({ target }) => set({ says: target.checked })}
          />
          {draft.says && isOther && <Note>It is a message with a file or a copy, as it was set over the API.</Note>}
          {draft.says && !isOther && (
            <TextArea
              label="Message"
              rows={4}
              hint="HTML as Telegram takes it: <b>, <i>, <a href>. {first_name|friend} and {sub1} to {sub9} are filled in."
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
    save.mutate({ leave_event: event || null, leave_window_h: event === '' ? null : whole(hours), shared_joins })
  return (
    <PartForm action="Save" reason={reason} save={save} onSubmit={submit}>
      <SelectField
        label="A leave is recorded as"
        className="max-w-xs"
        value={event}
        onChange={({ target }) => setEvent(target.value)}
      >
        <option value="">nothing</option>
        {CUSTOM.map(type => (
          <option key={type} value={type}>
            {EVENT_TYPE_LABELS[type]}
          </option>
        ))}
      </SelectField>
      {event !== '' && (
        <TextField
          label="Within, hours after the join"
          className="max-w-xs"
          inputMode="numeric"
          hint="Once per person."
          value={hours}
          onChange={({ target }) => setHours(target.value)}
        />
      )}
      <SelectField
        label="A join by a link that a campaign shares counts"
        className="max-w-xs"
        hint="Visitors get it when no link is left. Nobody is sure whose join it was."
        value={shared_joins}
        onChange={({ target }) => setShared(target.value === 'organic' ? 'organic' : 'attribute')}
      >
        <option value="attribute">for the campaign’s newest click</option>
        <option value="organic">for no click</option>
      </SelectField>
    </PartForm>
  )
}
