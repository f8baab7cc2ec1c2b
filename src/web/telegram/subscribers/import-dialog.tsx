/** The dialog that imports people who started a bot before it was added to Sluice. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import {
  countSubscribers,
  importSubscribers,
  listSubscribers,
  MOST_IMPORTED,
  SubscriberImport,
} from '../../../telegram/subscribers/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { count } from '../../ground/figures/figures.ts'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { Checkbox, SelectField, TextArea } from '../../ground/ui/field.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { useBots } from '../bots/bot-choice.tsx'

type ImportDialogProps = { open: boolean; onClose: () => void; bot: string | undefined }

export function ImportDialog({ open, onClose, bot }: ImportDialogProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Import subscribers"
      description="People who started the bot before it was added here, by Telegram id."
    >
      <ImportForm onClose={onClose} bot={bot} />
    </Dialog>
  )
}

function ImportForm({ onClose, bot }: Omit<ImportDialogProps, 'open'>) {
  const bots = useBots()
  const refresh = useRefresh()
  const { role } = useActive()
  const [chosen, setChosen] = useState(bot)
  const [text, setText] = useState('')
  const [isConfirmed, setConfirmed] = useState(false)
  const [faults, setFaults] = useState<{ people?: string | undefined; sure?: string | undefined }>({})
  const bot_id = chosen ?? bots[0]?.id
  const user_ids = text.split(/[\s,;]+/).filter(number => number !== '')
  const importing = useMutation({
    mutationFn: (id: string) =>
      call(importSubscribers, { params: { id }, body: { user_ids, started_the_bot: true as const } }),
    gcTime: 0,
    onSuccess: async ({ added, known }) => {
      await refresh(listSubscribers, countSubscribers)
      onClose()
      notify(
        `${count(added)} subscribers imported`,
        known === 0 ? undefined : `${count(known)} were subscribers already`,
      )
    },
  })
  const submit = () => {
    const { error, success } = SubscriberImport.safeParse({ user_ids, started_the_bot: isConfirmed })
    const faultOf = (field: string) => error?.issues.find(({ path }) => path[0] === field)
    const idFault = faultOf('user_ids')
    const badId = typeof idFault?.path[1] === 'number' ? `“${user_ids[idFault.path[1]] ?? ''}” ` : ''
    setFaults({
      people: idFault && `${badId}${idFault.message}`,
      sure: faultOf('started_the_bot') && 'The bot can message only people who started it',
    })
    if (success && bot_id !== undefined) importing.mutate(bot_id)
  }
  return (
    <DialogForm onSubmit={submit}>
      <DialogBody>
        <SelectField label="Bot" value={bot_id ?? ''} onChange={event => setChosen(event.target.value)}>
          {bots.map(({ id, username }) => (
            <option key={id} value={id}>
              @{username}
            </option>
          ))}
        </SelectField>
        <TextArea
          label="Telegram ids"
          rows={8}
          hint={
            user_ids.length === 0
              ? `One per line, or separated by commas. At most ${count(MOST_IMPORTED)} at a time.`
              : `${count(user_ids.length)} of at most ${count(MOST_IMPORTED)} at a time.`
          }
          error={faults.people}
          value={text}
          onChange={event => setText(event.target.value)}
        />
        <Checkbox
          label="These people have started this bot"
          words={faults.sure ?? 'Telegram rejects messages to anyone else, and limits bots that try.'}
          checked={isConfirmed}
          onChange={event => setConfirmed(event.target.checked)}
        />
        {faults.sure !== undefined && (
          <p role="alert" className="text-bad">
            Confirm that they have started the bot.
          </p>
        )}
        <RefusalNote refused={importing.error} />
      </DialogBody>
      <SaveFoot
        action="Import"
        pending={importing.isPending}
        reason={reasonAgainst(importSubscribers, role)}
        onCancel={onClose}
      />
    </DialogForm>
  )
}
