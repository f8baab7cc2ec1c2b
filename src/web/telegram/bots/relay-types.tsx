/** The types of updates that are forwarded to the bot's program. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { BotChanges, updateBot } from '../../../telegram/bots/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { notify } from '../../ground/ui/toast.tsx'
import { isChanged, useUnsaved } from '../../ground/ui/unsaved.ts'
import { type BotRow, SHOW_BOTS } from './state.tsx'

export function RelayTypes({ bot: { id, relay_types: saved } }: { bot: BotRow }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const before = saved.join(', ')
  const [types, setTypes] = useState(before)
  const [fault, setFault] = useState<string>()
  useUnsaved(isChanged({ types }, { types: before }), 'types of updates')
  const relay_types = types.split(/[\s,]+/).filter(type => type !== '')
  const save = useMutation({
    mutationFn: () => call(updateBot, { params: { id }, body: { relay_types } }),
    onSuccess: async changed => {
      setTypes(changed.relay_types.join(', '))
      await refresh(...SHOW_BOTS)
      notify('Forwarded types saved')
    },
  })
  const submit = () => {
    const checked = BotChanges.safeParse({ relay_types })
    setFault(checked.success ? undefined : checked.error.issues[0]?.message)
    if (checked.success) save.mutate()
  }
  return (
    <PartForm action="Save types" onSubmit={submit} save={save} reason={reasonAgainst(updateBot, role)}>
      <TextField
        label="Types of updates to forward"
        optional
        placeholder="All"
        hint="Telegram’s names, such as message, callback_query, pre_checkout_query. Blank = all."
        error={fault}
        value={types}
        onChange={event => setTypes(event.target.value)}
      />
    </PartForm>
  )
}
