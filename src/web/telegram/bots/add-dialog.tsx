/** Adding a bot: its token, and who runs it. Where another program has the hook, what to do with it is asked before anything is touched. */
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { BotDraft, createBot, listBots } from '../../../telegram/bots/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call, Refused } from '../../ground/call.ts'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { Checkbox, TextField } from '../../ground/ui/field.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { ModeFields, type Way, wayToSend } from './mode-fields.tsx'

export function AddBotDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Add bot">
      <AddForm onClose={onClose} />
    </Dialog>
  )
}

type Typed = Way & { token: string; username: string; take_over: boolean }
const EMPTY: Typed = { token: '', username: '', mode: 'own', relay_url: '', relay_secret: '', take_over: false }

const bodyOf = ({ token, username, take_over, ...way }: Typed) => ({
  token: token.trim(),
  ...(username.trim() === '' ? {} : { username: username.trim() }),
  ...wayToSend(way),
  ...(way.mode === 'own' && take_over ? { take_over } : {}),
})

function AddForm({ onClose }: { onClose: () => void }) {
  const refresh = useRefresh()
  const navigate = useNavigate()
  const { role } = useActive()
  const [typed, setTyped] = useState(EMPTY)
  const [faults, setFaults] = useState<Partial<Record<string, string>>>({})
  const set = (more: Partial<Typed>) => setTyped(before => ({ ...before, ...more }))
  const add = useMutation({
    mutationFn: (body: ReturnType<typeof bodyOf>) => call(createBot, { body }),
    // What was typed holds a token, and is of no use once the dialog is closed.
    gcTime: 0,
    onSuccess: async bot => {
      await refresh(listBots)
      onClose()
      notify(`@${bot.username} is added`, bot.hook_error ?? undefined)
      await navigate({ to: '/bots/$id', params: { id: bot.id } })
    },
  })
  const submit = () => {
    const body = bodyOf(typed)
    const checked = BotDraft.safeParse(body)
    const found = checked.success ? [] : checked.error.issues.map(({ path, message }) => [String(path[0]), message])
    setFaults(Object.fromEntries(found))
    if (checked.success) add.mutate(body)
  }
  const isTaken = add.error instanceof Refused && add.error.code === 'bot_hook_taken'
  const isAway = add.error?.message.startsWith('username:') === true
  return (
    <DialogForm onSubmit={submit}>
      <DialogBody>
        <TextField
          label="Token"
          type="password"
          autoComplete="off"
          hint="From BotFather. It is kept encrypted and never shown again."
          error={faults['token']}
          value={typed.token}
          onChange={event => set({ token: event.target.value })}
        />
        {isAway && (
          <TextField
            label="Name"
            placeholder="@example_bot"
            autoComplete="off"
            error={faults['username']}
            value={typed.username}
            onChange={event => set({ username: event.target.value })}
          />
        )}
        {isTaken && (
          <Note kind="warning">
            <strong>{add.error?.message}.</strong> Nothing was changed. Say below what is to become of it.
          </Note>
        )}
        <ModeFields way={typed} onChange={set} host={null} hasSecret={false} />
        {isTaken && typed.mode === 'own' && (
          <Checkbox
            label="Take the hook away from that program"
            words="It hears nothing any more. It gets the hook back when the bot is deleted here."
            checked={typed.take_over}
            onChange={event => set({ take_over: event.target.checked })}
          />
        )}
        {faults['relay_url'] !== undefined && (
          <Note kind="warning">Address of your program: {faults['relay_url']}.</Note>
        )}
        {faults['relay_secret'] !== undefined && <Note kind="warning">Secret: {faults['relay_secret']}.</Note>}
        {!isTaken && <RefusalNote refused={add.error} />}
      </DialogBody>
      <SaveFoot action="Add bot" pending={add.isPending} reason={reasonAgainst(createBot, role)} onCancel={onClose} />
    </DialogForm>
  )
}
