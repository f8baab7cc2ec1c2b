/** Which kinds of updates are passed on to the program behind. */
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

export function RelayTypes({ bot: { id, relay_types: kept } }: { bot: BotRow }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const before = kept.join(', ')
  const [kinds, setKinds] = useState(before)
  const [fault, setFault] = useState<string>()
  useUnsaved(isChanged({ kinds }, { kinds: before }), 'kinds of updates')
  const relay_types = kinds.split(/[\s,]+/).filter(kind => kind !== '')
  const save = useMutation({
    mutationFn: () => call(updateBot, { params: { id }, body: { relay_types } }),
    onSuccess: async saved => {
      setKinds(saved.relay_types.join(', '))
      await refresh(...SHOW_BOTS)
      notify('Kinds of updates are saved')
    },
  })
  const submit = () => {
    const checked = BotChanges.safeParse({ relay_types })
    setFault(checked.success ? undefined : checked.error.issues[0]?.message)
    if (checked.success) save.mutate()
  }
  return (
    <PartForm action="Save kinds" onSubmit={submit} save={save} reason={reasonAgainst(updateBot, role)}>
      <TextField
        label="Kinds of updates that are passed on"
        optional
        placeholder="All"
        hint="Telegram’s names, such as message, callback_query, pre_checkout_query. Left empty: all of them."
        error={fault}
        value={kinds}
        onChange={event => setKinds(event.target.value)}
      />
    </PartForm>
  )
}
