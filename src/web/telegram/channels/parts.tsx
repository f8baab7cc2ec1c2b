/** The rules of a channel: invite links, joining, leaving. Each form is saved separately. */
import { useMutation } from '@tanstack/react-query'
import type { z } from 'zod'
import { EVENT_TYPE_LABELS, type EventType } from '../../../contract/event-types.ts'
import { type Message, messageFault } from '../../../contract/telegram-message.ts'
import { ChannelChanges, updateChannel } from '../../../telegram/channels/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { submits, useRequestDraft } from '../../ground/ui/draft.ts'
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
  const form = useRequestDraft({
    schema: ChannelChanges,
    values: { pool_min: String(channel.pool_min), link_days: String(channel.link_days) },
    requestOf: ({ pool_min, link_days }) => ({ pool_min: wholeNumber(pool_min), link_days: wholeNumber(link_days) }),
  })
  const { errors } = form.formState
  return (
    <PartForm action="Save" reason={reason} save={save} onSubmit={submits(form, body => save.mutate(body))}>
      <TextField
        label="Minimum links ready"
        className="max-w-xs"
        inputMode="numeric"
        hint="10 to 5,000. More are created in busy hours: twice the busiest ten minutes."
        error={errors.pool_min?.message}
        {...form.register('pool_min')}
      />
      <TextField
        label="Link lifetime, days"
        className="max-w-xs"
        inputMode="numeric"
        hint="1 to 30. A link is given out only while it has two days left, or half of a shorter lifetime."
        error={errors.link_days?.message}
        {...form.register('link_days')}
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
  const isOther = request_message !== null && !('text' in request_message)
  const kept = request_message !== null && 'text' in request_message ? request_message : {}
  const messageOf = (text: string): z.input<typeof Message> => ({ ...kept, text })
  const form = useRequestDraft<JoinDraft, Changes>({
    schema: ChannelChanges,
    values: {
      join_mode,
      on_request,
      after: String(approve_after_s),
      hasMessage: request_message !== null,
      text: textOf(request_message),
    },
    requestOf: typed => {
      if (typed.join_mode === 'open') return { join_mode: 'open' }
      const message = typed.hasMessage ? messageOf(typed.text) : null
      return {
        join_mode: 'request',
        on_request: typed.on_request,
        ...(typed.on_request === 'approve' ? { approve_after_s: wholeNumber(typed.after) } : {}),
        ...(isOther && typed.hasMessage ? {} : { request_message: message }),
      }
    },
    fieldOf: ([field]) => (field === 'request_message' ? 'text' : 'after'),
  })
  const draft = form.watch()
  const fault = draft.hasMessage && !isOther ? messageFault(messageOf(draft.text)) : undefined
  const submit = submits(form, body => {
    if (fault === undefined || body.join_mode === 'open') save.mutate(body)
  })
  return (
    <PartForm action="Save" reason={reason} save={save} onSubmit={submit}>
      <SelectField
        label="Links"
        className="max-w-xs"
        hint="After a change new links are created, which takes a minute."
        {...form.register('join_mode')}
      >
        <option value="open">Let in at once</option>
        <option value="request">Send a join request</option>
      </SelectField>
      {draft.join_mode === 'request' && (
        <>
          <SelectField label="Join requests" className="max-w-xs" {...form.register('on_request')}>
            <option value="leave">Decide by hand</option>
            <option value="approve">Approve automatically</option>
          </SelectField>
          {draft.on_request === 'approve' && (
            <TextField
              label="Approve after, seconds"
              className="max-w-xs"
              inputMode="numeric"
              hint="0 to 86,400."
              error={form.formState.errors.after?.message}
              {...form.register('after')}
            />
          )}
          <Checkbox
            label="Message people who ask to join"
            words="Telegram allows this for five minutes and only before the decision, so the message is sent first."
            {...form.register('hasMessage')}
          />
          {draft.hasMessage && isOther && <Note>This message has a file or is a copy. Change it through the API.</Note>}
          {draft.hasMessage && !isOther && (
            <TextArea
              label="Message"
              rows={4}
              hint="Telegram’s HTML: <b>, <i>, <a href>. Macros: {first_name|friend} and {sub1} to {sub9}."
              error={fault ?? form.formState.errors.text?.message}
              {...form.register('text')}
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
  const form = useRequestDraft({
    schema: ChannelChanges,
    values: {
      event: channel.leave_event ?? '',
      hours: String(channel.leave_window_h ?? 72),
      shared_joins: channel.shared_joins,
    },
    requestOf: ({ event, hours, shared_joins }): Changes => ({
      leave_event: event === '' ? null : event,
      leave_window_h: event === '' ? null : wholeNumber(hours),
      shared_joins,
    }),
    fieldOf: ([field]) => (field === 'leave_window_h' ? 'hours' : 'event'),
  })
  return (
    <PartForm action="Save" reason={reason} save={save} onSubmit={submits(form, body => save.mutate(body))}>
      <SelectField label="Record a leave as" className="max-w-xs" {...form.register('event')}>
        <option value="">Do not record</option>
        {CUSTOM.map(type => (
          <option key={type} value={type}>
            {EVENT_TYPE_LABELS[type]}
          </option>
        ))}
      </SelectField>
      {form.watch('event') !== '' && (
        <TextField
          label="If within, hours after the join"
          className="max-w-xs"
          inputMode="numeric"
          hint="Once per person."
          error={form.formState.errors.hours?.message}
          {...form.register('hours')}
        />
      )}
      <SelectField
        label="Joins by a campaign’s shared link"
        className="max-w-xs"
        hint="Visitors get the shared link when no own link is left. Their joins cannot be attributed with certainty."
        {...form.register('shared_joins')}
      >
        <option value="attribute">Credit to the campaign’s latest click</option>
        <option value="organic">Count as organic</option>
      </SelectField>
    </PartForm>
  )
}
