/** Taking in people who have started a bot before Sluice knew it. */
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
      description="People who have started the bot before Sluice knew it, by their numbers at Telegram."
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
  const [isSure, setSure] = useState(false)
  const [faults, setFaults] = useState<{ people?: string | undefined; sure?: string | undefined }>({})
  const bot_id = chosen ?? bots[0]?.id
  const user_ids = text.split(/[\s,;]+/).filter(number => number !== '')
  const load = useMutation({
    mutationFn: (id: string) =>
      call(importSubscribers, { params: { id }, body: { user_ids, started_the_bot: true as const } }),
    gcTime: 0,
    onSuccess: async ({ added, known }) => {
      await refresh(listSubscribers, countSubscribers)
      onClose()
      notify(`${count(added)} subscribers are added`, known === 0 ? undefined : `${count(known)} were known already`)
    },
  })
  const submit = () => {
    const { error, success } = SubscriberImport.safeParse({ user_ids, started_the_bot: isSure })
    const faultOf = (field: string) => error?.issues.find(({ path }) => path[0] === field)
    const wrong = faultOf('user_ids')
    const which = typeof wrong?.path[1] === 'number' ? `“${user_ids[wrong.path[1]] ?? ''}” ` : ''
    setFaults({
      people: wrong && `${which}${wrong.message}`,
      sure: faultOf('started_the_bot') && 'Telegram lets the bot write to no others',
    })
    if (success && bot_id !== undefined) load.mutate(bot_id)
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
          label="Numbers"
          rows={8}
          hint={
            user_ids.length === 0
              ? `One a line, or with commas. ${count(MOST_IMPORTED)} at a time.`
              : `${count(user_ids.length)} of at most ${count(MOST_IMPORTED)} at a time.`
          }
          error={faults.people}
          value={text}
          onChange={event => setText(event.target.value)}
        />
        <Checkbox
          label="These people have started this very bot"
          words={faults.sure ?? 'Telegram lets it write to no others, and slows down bots that try.'}
          checked={isSure}
          onChange={event => setSure(event.target.checked)}
        />
        {faults.sure !== undefined && (
          <p role="alert" className="text-bad">
            Confirm that they have started it.
          </p>
        )}
        <RefusalNote refused={load.error} />
      </DialogBody>
      <SaveFoot
        action="Import"
        pending={load.isPending}
        reason={reasonAgainst(importSubscribers, role)}
        onCancel={onClose}
      />
    </DialogForm>
  )
}
