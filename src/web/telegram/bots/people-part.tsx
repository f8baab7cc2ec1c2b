/** The subscriber settings of a bot: words that unsubscribe, first names, and sending speed. */
import { useMutation } from '@tanstack/react-query'
import { BotChanges, MOST_PER_SECOND, updateBot } from '../../../telegram/bots/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { moment } from '../../ground/figures/figures.ts'
import { submits, useRequestDraft } from '../../ground/ui/draft.ts'
import { Checkbox, TextField } from '../../ground/ui/field.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { useUnsaved } from '../../ground/ui/unsaved.ts'
import { type BotRow, SHOW_BOTS } from './state.tsx'

const valuesOf = ({ opt_out_words, keep_names, send_per_second }: BotRow) => ({
  words: opt_out_words.join(', '),
  keep_names,
  speed: String(send_per_second),
})

const changesOf = ({ words, keep_names, speed }: ReturnType<typeof valuesOf>) => ({
  opt_out_words: words
    .split(',')
    .map(word => word.trim())
    .filter(word => word !== ''),
  keep_names,
  send_per_second: Number(speed),
})

/** The form field of each request field that has another name. */
const RENAMED = new Map<PropertyKey | undefined, string>([
  ['opt_out_words', 'words'],
  ['send_per_second', 'speed'],
])

export function PeoplePart({ bot }: { bot: BotRow }) {
  const { id, silent_until } = bot
  const { role } = useActive()
  const refresh = useRefresh()
  const form = useRequestDraft({
    schema: BotChanges,
    values: valuesOf(bot),
    requestOf: changesOf,
    fieldOf: ([field]) => RENAMED.get(field) ?? 'keep_names',
  })
  useUnsaved(form.formState.isDirty, 'subscribers')
  const { errors } = form.formState
  const save = useMutation({
    mutationFn: (body: ReturnType<typeof changesOf>) => call(updateBot, { params: { id }, body }),
    onSuccess: async saved => {
      form.reset(valuesOf(saved))
      await refresh(...SHOW_BOTS)
      notify('Subscriber settings saved')
    },
  })
  return (
    <PartForm
      action="Save subscribers"
      onSubmit={submits(form, body => save.mutate(body))}
      save={save}
      reason={reasonAgainst(updateBot, role)}
    >
      {silent_until !== null && (
        <Note kind="warning">Telegram rate limits the bot: it sends nothing until {moment(silent_until)}.</Note>
      )}
      <TextField
        label="Words that unsubscribe"
        hint="Separate with commas. People who send one get no more broadcasts; /start subscribes them again."
        error={errors.words?.message}
        {...form.register('words')}
      />
      <TextField
        label="Messages per second"
        type="number"
        min={1}
        max={MOST_PER_SECOND}
        className="max-w-40"
        hint={`1 to ${MOST_PER_SECOND}. Telegram allows a bot about 30, your own program included.`}
        error={errors.speed?.message}
        {...form.register('speed')}
      />
      <Checkbox
        label="Store first names"
        words="For {first_name} in messages. Switching this off erases the stored names."
        {...form.register('keep_names')}
      />
    </PartForm>
  )
}
