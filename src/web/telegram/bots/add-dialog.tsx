/** The dialog that adds a bot by its token. If another program holds the webhook, the dialog asks how to proceed before anything changes. */
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { BotDraft, createBot, listBots } from '../../../telegram/bots/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call, Refused } from '../../ground/call.ts'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { submits, useRequestDraft } from '../../ground/ui/draft.ts'
import { Checkbox, TextField } from '../../ground/ui/field.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { ModeFields, type ModeDraft, modeChanges } from './mode-fields.tsx'

export function AddBotDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Add bot">
      <AddForm onClose={onClose} />
    </Dialog>
  )
}

type BotForm = ModeDraft & { token: string; username: string; take_over: boolean }
const EMPTY: BotForm = { token: '', username: '', mode: 'own', relay_url: '', relay_secret: '', take_over: false }

const bodyOf = ({ token, username, take_over, ...draft }: BotForm) => ({
  token: token.trim(),
  ...(username.trim() === '' ? {} : { username: username.trim() }),
  ...modeChanges(draft),
  ...(draft.mode === 'own' && take_over ? { take_over } : {}),
})

function AddForm({ onClose }: { onClose: () => void }) {
  const refresh = useRefresh()
  const navigate = useNavigate()
  const { role } = useActive()
  const form = useRequestDraft({ schema: BotDraft, values: EMPTY, requestOf: bodyOf })
  const { errors } = form.formState
  const add = useMutation({
    mutationFn: (body: ReturnType<typeof bodyOf>) => call(createBot, { body }),
    // The request holds a token, so it is not cached once the dialog is closed.
    gcTime: 0,
    onSuccess: async bot => {
      await refresh(listBots)
      onClose()
      notify(`@${bot.username} added`, bot.hook_error ?? undefined)
      await navigate({ to: '/bots/$id', params: { id: bot.id } })
    },
  })
  const mode = form.watch('mode')
  const isTaken = add.error instanceof Refused && add.error.code === 'bot_hook_taken'
  const needsUsername = add.error?.message.startsWith('username:') === true
  return (
    <DialogForm onSubmit={submits(form, body => add.mutate(body))}>
      <DialogBody>
        <TextField
          label="Token"
          type="password"
          autoComplete="off"
          hint="From BotFather. Stored encrypted and never shown again."
          error={errors.token?.message}
          {...form.register('token')}
        />
        {needsUsername && (
          <TextField
            label="Username"
            placeholder="@example_bot"
            autoComplete="off"
            error={errors.username?.message}
            {...form.register('username')}
          />
        )}
        {isTaken && (
          <Note kind="warning">
            <strong>{add.error?.message}.</strong> Nothing was changed. Choose below how the two share the bot.
          </Note>
        )}
        <ModeFields form={form} mode={mode} host={null} hasSecret={false} />
        {isTaken && mode === 'own' && (
          <Checkbox
            label="Take the webhook from that program"
            words="It stops receiving updates. Its webhook is restored when you delete the bot here."
            {...form.register('take_over')}
          />
        )}
        {!isTaken && <RefusalNote refused={add.error} />}
      </DialogBody>
      <SaveFoot action="Add bot" pending={add.isPending} reason={reasonAgainst(createBot, role)} onCancel={onClose} />
    </DialogForm>
  )
}
