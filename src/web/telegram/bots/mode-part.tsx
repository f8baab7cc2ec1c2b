/** Changing who runs a bot. What would make a program deaf is asked once more. */
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
import { ModeFields, type Way, wayToSend } from './mode-fields.tsx'
import { type BotRow, MODE_WORDS, SHOW_BOTS } from './state.tsx'

export function ModePart({ bot }: { bot: BotRow }) {
  const { id, mode, relay_host, former_host, has_relay_secret } = bot
  const { role } = useActive()
  const refresh = useRefresh()
  const before: Way = { mode, relay_url: '', relay_secret: '' }
  const [way, setWay] = useState(before)
  const [takesOver, setTakesOver] = useState(false)
  const isDirty = isChanged(way, before)
  useUnsaved(isDirty, 'who runs the bot')
  const save = useMutation({
    mutationFn: () =>
      call(updateBot, { params: { id }, body: { ...wayToSend(way), ...(takesOver ? { take_over: true } : {}) } }),
    gcTime: 0,
    onSuccess: async saved => {
      setWay({ mode: saved.mode, relay_url: '', relay_secret: '' })
      await refresh(...SHOW_BOTS)
      notify(`Run by: ${MODE_WORDS[saved.mode].title.toLowerCase()}`)
    },
  })
  const isTaken = save.error instanceof Refused && save.error.code === 'bot_hook_taken'
  return (
    <PartForm action="Save" onSubmit={() => save.mutate()} save={save} reason={reasonAgainst(updateBot, role)}>
      <ModeFields way={way} onChange={setWay} host={relay_host ?? former_host} hasSecret={has_relay_secret} />
      {isTaken && way.mode === 'own' && (
        <Checkbox
          label="Take the hook away from that program"
          words="It hears nothing any more."
          checked={takesOver}
          onChange={event => setTakesOver(event.target.checked)}
        />
      )}
    </PartForm>
  )
}
