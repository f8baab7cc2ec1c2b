/** The types of updates that are forwarded to the bot's program. */
import { useMutation } from '@tanstack/react-query'
import { BotChanges, updateBot } from '../../../telegram/bots/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { submits, useRequestDraft } from '../../ground/ui/draft.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { notify } from '../../ground/ui/toast.tsx'
import { useUnsaved } from '../../ground/ui/unsaved.ts'
import { type BotRow, SHOW_BOTS } from './state.tsx'

export function RelayTypes({ bot: { id, relay_types: saved } }: { bot: BotRow }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const form = useRequestDraft({
    schema: BotChanges,
    values: { types: saved.join(', ') },
    requestOf: ({ types }) => ({ relay_types: types.split(/[\s,]+/).filter(type => type !== '') }),
    fieldOf: () => 'types',
  })
  useUnsaved(form.formState.isDirty, 'types of updates')
  const save = useMutation({
    mutationFn: (body: { relay_types: string[] }) => call(updateBot, { params: { id }, body }),
    onSuccess: async changed => {
      form.reset({ types: changed.relay_types.join(', ') })
      await refresh(...SHOW_BOTS)
      notify('Forwarded types saved')
    },
  })
  return (
    <PartForm
      action="Save types"
      onSubmit={submits(form, body => save.mutate(body))}
      save={save}
      reason={reasonAgainst(updateBot, role)}
    >
      <TextField
        label="Types of updates to forward"
        optional
        placeholder="All"
        hint="Telegram’s names, such as message, callback_query, pre_checkout_query. Blank = all."
        error={form.formState.errors.types?.message}
        {...form.register('types')}
      />
    </PartForm>
  )
}
