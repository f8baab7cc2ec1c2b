/** Changes who runs a bot. A change that cuts a program off from updates has to be confirmed. */
import { useMutation } from '@tanstack/react-query'
import type { z } from 'zod'
import { BotChanges, updateBot } from '../../../telegram/bots/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call, Refused } from '../../ground/call.ts'
import { submits, useRequestDraft } from '../../ground/ui/draft.ts'
import { Checkbox } from '../../ground/ui/field.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { notify } from '../../ground/ui/toast.tsx'
import { useUnsaved } from '../../ground/ui/unsaved.ts'
import { ModeFields, modeChanges } from './mode-fields.tsx'
import { type BotRow, type Mode, MODE_WORDS, SHOW_BOTS } from './state.tsx'

const valuesOf = (mode: Mode) => ({ mode, relay_url: '', relay_secret: '', take_over: false })

export function ModePart({ bot }: { bot: BotRow }) {
  const { id, mode, relay_host, former_host, has_relay_secret } = bot
  const { role } = useActive()
  const refresh = useRefresh()
  const form = useRequestDraft({
    schema: BotChanges,
    values: valuesOf(mode),
    requestOf: ({ take_over, ...draft }) => ({ ...modeChanges(draft), ...(take_over ? { take_over } : {}) }),
  })
  useUnsaved(form.formState.isDirty, 'who runs the bot')
  const save = useMutation({
    mutationFn: (body: z.input<typeof BotChanges>) => call(updateBot, { params: { id }, body }),
    // The request may hold the program's secret, so it is not cached.
    gcTime: 0,
    onSuccess: async saved => {
      form.reset(valuesOf(saved.mode))
      await refresh(...SHOW_BOTS)
      notify(`Run by: ${MODE_WORDS[saved.mode].title}`)
    },
  })
  const chosen = form.watch('mode')
  const isTaken = save.error instanceof Refused && save.error.code === 'bot_hook_taken'
  return (
    <PartForm
      action="Save"
      onSubmit={submits(form, body => save.mutate(body))}
      save={save}
      reason={reasonAgainst(updateBot, role)}
    >
      <ModeFields form={form} mode={chosen} host={relay_host ?? former_host} hasSecret={has_relay_secret} />
      {isTaken && chosen === 'own' && (
        <Checkbox
          label="Take the webhook from that program"
          words="It stops receiving updates."
          {...form.register('take_over')}
        />
      )}
    </PartForm>
  )
}
