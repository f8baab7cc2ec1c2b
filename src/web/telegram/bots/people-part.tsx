/** The subscriber settings of a bot: words that unsubscribe, first names, and sending speed. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { BotChanges, MOST_PER_SECOND, updateBot } from '../../../telegram/bots/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { moment } from '../../ground/figures/figures.ts'
import { Checkbox, TextField } from '../../ground/ui/field.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { isChanged, useUnsaved } from '../../ground/ui/unsaved.ts'
import { type BotRow, SHOW_BOTS } from './state.tsx'

const termsOf = ({ opt_out_words, keep_names, send_per_second }: BotRow) => ({
  words: opt_out_words.join(', '),
  keep_names,
  speed: String(send_per_second),
})

export function PeoplePart({ bot }: { bot: BotRow }) {
  const { id, silent_until } = bot
  const { role } = useActive()
  const refresh = useRefresh()
  const before = termsOf(bot)
  const [terms, setTerms] = useState(before)
  const [faults, setFaults] = useState<{ words?: string | undefined; speed?: string | undefined }>({})
  useUnsaved(isChanged(terms, before), 'subscribers')
  const opt_out_words = terms.words
    .split(',')
    .map(word => word.trim())
    .filter(word => word !== '')
  const body = { opt_out_words, keep_names: terms.keep_names, send_per_second: Number(terms.speed) }
  const save = useMutation({
    mutationFn: () => call(updateBot, { params: { id }, body }),
    onSuccess: async saved => {
      setTerms(termsOf(saved))
      await refresh(...SHOW_BOTS)
      notify('Subscriber settings saved')
    },
  })
  const submit = () => {
    const { error, success } = BotChanges.safeParse(body)
    const faultOf = (field: string) => error?.issues.find(({ path }) => path[0] === field)?.message
    setFaults({ words: faultOf('opt_out_words'), speed: faultOf('send_per_second') })
    if (success) save.mutate()
  }
  return (
    <PartForm action="Save subscribers" onSubmit={submit} save={save} reason={reasonAgainst(updateBot, role)}>
      {silent_until !== null && (
        <Note kind="warning">Telegram rate limits the bot: it sends nothing until {moment(silent_until)}.</Note>
      )}
      <TextField
        label="Words that unsubscribe"
        hint="Separate with commas. People who send one get no more broadcasts; /start subscribes them again."
        error={faults.words}
        value={terms.words}
        onChange={event => setTerms({ ...terms, words: event.target.value })}
      />
      <TextField
        label="Messages per second"
        type="number"
        min={1}
        max={MOST_PER_SECOND}
        className="max-w-40"
        hint={`1 to ${MOST_PER_SECOND}. Telegram allows a bot about 30, your own program included.`}
        error={faults.speed}
        value={terms.speed}
        onChange={event => setTerms({ ...terms, speed: event.target.value })}
      />
      <Checkbox
        label="Store first names"
        words="For {first_name} in messages. Switching this off erases the stored names."
        checked={terms.keep_names}
        onChange={event => setTerms({ ...terms, keep_names: event.target.checked })}
      />
    </PartForm>
  )
}
