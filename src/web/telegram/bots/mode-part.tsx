/** Changes who runs a bot. A change that cuts a program off from updates has to be confirmed. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { updateBot } from '../../../telegram/bots/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call, Refused } from '../../ground/call.ts'
import { Checkbox } from '../../ground/ui/field.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { notify } from '../../ground/ui/toast.tsx'
import { isChanged, useUnsaved } from '../../ground/ui/unsaved.ts'
import { ModeFields, type ModeDraft, modeChanges } from './mode-fields.tsx'
import { type BotRow, MODE_WORDS, SHOW_BOTS } from './state.tsx'

export function ModePart({ bot }: { bot: BotRow }) {
  const { id, mode, relay_host, former_host, has_relay_secret } = bot
  const { role } = useActive()
  const refresh = useRefresh()
  const before: ModeDraft = { mode, relay_url: '', relay_secret: '' }
  const [draft, setDraft] = useState(before)
  const [takesOver, setTakesOver] = useState(false)
  const isDirty = isChanged(draft, before)
  useUnsaved(isDirty, 'who runs the bot')
  const save = useMutation({
    mutationFn: () =>
      call(updateBot, { params: { id }, body: { ...modeChanges(draft), ...(takesOver ? { take_over: true } : {}) } }),
    gcTime: 0,
    onSuccess: async saved => {
      setDraft({ mode: saved.mode, relay_url: '', relay_secret: '' })
      await refresh(...SHOW_BOTS)
      notify(`Run by: ${MODE_WORDS[saved.mode].title}`)
    },
  })
  const isTaken = save.error instanceof Refused && save.error.code === 'bot_hook_taken'
  return (
    <PartForm action="Save" onSubmit={() => save.mutate()} save={save} reason={reasonAgainst(updateBot, role)}>
      <ModeFields draft={draft} onChange={setDraft} host={relay_host ?? former_host} hasSecret={has_relay_secret} />
      {isTaken && draft.mode === 'own' && (
        <Checkbox
          label="Take the webhook from that program"
          words="It stops receiving updates."
          checked={takesOver}
          onChange={event => setTakesOver(event.target.checked)}
        />
      )}
    </PartForm>
  )
}
