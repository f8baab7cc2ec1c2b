/** The form of a receiver, new or changed. The secret of a new webhook is shown behind it, once. */
import { useState } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { ALERT_KINDS, ALERT_WORDS } from '../../../contract/alerts.ts'
import {
  createReceiver,
  listReceivers,
  RECEIVER_TYPES,
  ReceiverChanges,
  ReceiverDraft,
  updateReceiver,
} from '../../../automation/receivers/api.ts'
import { call } from '../../ground/call.ts'
import { HoursFields } from '../../ground/hours-fields.tsx'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { chosenIn, useRequestDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { Checkbox, SelectField, TextField } from '../../ground/ui/field.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { zoneNow } from '../../ground/zone.ts'
import { useBots } from '../../telegram/bots/bot-choice.tsx'
import {
  BLANK_RECEIVER,
  patchOfReceiver,
  type ReceiverForm,
  receiverFormOf,
  type ReceiverRow,
  requestOfReceiver,
  RECEIVER_WORDS,
} from './form-values.ts'
import { SecretDialog } from './secret-dialog.tsx'

type OpenProps = { open: boolean; onClose: () => void }

export function NewReceiver({ open, onClose }: OpenProps) {
  const [created, setCreated] = useState<{ name: string; secret: string }>()
  return (
    <>
      <Dialog open={open} onClose={onClose} title="New receiver" width="wide">
        <NewForm onClose={onClose} onSecret={setCreated} />
      </Dialog>
      <SecretDialog name={created?.name ?? ''} secret={created?.secret} onClose={() => setCreated(undefined)} />
    </>
  )
}

type NewFormProps = { onClose: () => void; onSecret: (created: { name: string; secret: string }) => void }

function NewForm({ onClose, onSecret }: NewFormProps) {
  const form = useRequestDraft({ schema: ReceiverDraft, values: BLANK_RECEIVER, requestOf: requestOfReceiver })
  return (
    <DraftForm
      form={form}
      action="Add receiver"
      endpoint={createReceiver}
      deed={body => call(createReceiver, { body })}
      refresh={[listReceivers]}
      onClose={onClose}
      onSaved={created =>
        created.type === 'webhook' ? onSecret(created) : notify(`${created.name} is added`, 'Send a test to check it.')
      }
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField label="Sent by" hint="Cannot be changed later." {...form.register('type')}>
          {RECEIVER_TYPES.map(type => (
            <option key={type} value={type}>
              {RECEIVER_WORDS[type]}
            </option>
          ))}
        </SelectField>
        <NameField form={form} />
      </div>
      <PlaceFields form={form} />
      <SettingFields form={form} />
    </DraftForm>
  )
}

export function EditReceiver({ receiver, open, onClose }: OpenProps & { receiver: ReceiverRow }) {
  return (
    <Dialog open={open} onClose={onClose} title="Edit receiver" width="wide">
      <EditForm receiver={receiver} onClose={onClose} />
    </Dialog>
  )
}

function EditForm({ receiver, onClose }: { receiver: ReceiverRow; onClose: () => void }) {
  const values = receiverFormOf(receiver)
  const form = useRequestDraft({ schema: ReceiverChanges, values, requestOf: patchOfReceiver })
  return (
    <DraftForm
      form={form}
      action="Save receiver"
      endpoint={updateReceiver}
      deed={body => call(updateReceiver, { params: { id: receiver.id }, body })}
      refresh={[listReceivers]}
      onClose={onClose}
      onSaved={({ name }) => notify(`${name} is saved`)}
    >
      <NameField form={form} />
      <PlaceFields form={form} />
      <SettingFields form={form} />
    </DraftForm>
  )
}

type FieldsProps<Request> = { form: UseFormReturn<ReceiverForm, unknown, Request> }

function NameField<Request>({ form }: FieldsProps<Request>) {
  return (
    <TextField label="Name" autoComplete="off" error={form.formState.errors.name?.message} {...form.register('name')} />
  )
}

/** Where the messages go. */
function PlaceFields<Request>({ form }: FieldsProps<Request>) {
  const bots = useBots()
  const { errors } = form.formState
  const type = form.watch('type')
  if (type === 'mail')
    return <TextField label="E-mail address" type="email" error={errors.email?.message} {...form.register('email')} />
  if (type === 'webhook')
    return (
      <TextField
        label="Address"
        placeholder="https://example.com/sluice"
        hint="Sluice calls it with a signed POST request."
        error={errors.url?.message}
        className="[&_input]:font-mono"
        spellCheck={false}
        autoComplete="off"
        {...form.register('url')}
      />
    )
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label="Bot"
        hint="It must be in the chat, and may write there."
        error={errors.bot_id?.message}
        {...form.register('bot_id')}
        // The list of bots loads after the form.
        value={form.watch('bot_id')}
      >
        <option value="">Choose a bot</option>
        {bots.map(({ id, username }) => (
          <option key={id} value={id}>
            @{username}
          </option>
        ))}
      </SelectField>
      <TextField
        label="Chat"
        hint="The id of a person, group or channel, or @ and its public name."
        autoComplete="off"
        error={errors.chat_id?.message}
        {...form.register('chat_id')}
      />
    </div>
  )
}

/** What it is told, and when. */
function SettingFields<Request>({ form }: FieldsProps<Request>) {
  const digest = form.watch('digest')
  const setDigest = (next: ReceiverForm['digest']) => form.setValue('digest', next, chosenIn(form))
  return (
    <>
      <SelectField
        label="About"
        className="max-w-72"
        hint="Rules that name this receiver tell it in any case."
        {...form.register('is_about')}
      >
        <option value="all">All alerts</option>
        <option value="some">Chosen alerts</option>
      </SelectField>
      {form.watch('is_about') === 'some' && (
        <fieldset aria-label="Alerts" className="grid gap-2 sm:grid-cols-2">
          {ALERT_KINDS.map(kind => (
            <Checkbox key={kind} label={ALERT_WORDS[kind]} value={kind} {...form.register('kinds')} />
          ))}
        </fieldset>
      )}
      <HoursFields
        label="Quiet hours"
        words="Messages wait until they are over."
        usual={{ from: '22:00', to: '08:00' }}
        hours={form.watch('quiet_hours')}
        onChange={hours => form.setValue('quiet_hours', hours, chosenIn(form))}
      />
      <Checkbox
        label="One digest a day"
        words="Messages are collected, and sent as one."
        checked={digest !== null}
        onChange={event => setDigest(event.target.checked ? { at: '09:00', time_zone: zoneNow() } : null)}
      />
      {digest !== null && (
        <div className="flex items-end gap-2 pl-6.5">
          <TextField
            type="time"
            label="At"
            value={digest.at}
            onChange={event => setDigest({ ...digest, at: event.target.value || '09:00' })}
          />
          <span className="pb-1.5 text-sm text-ink-soft">{digest.time_zone.replaceAll('_', ' ')}</span>
        </div>
      )}
    </>
  )
}
