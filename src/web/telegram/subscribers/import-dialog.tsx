/** The dialog that imports people who started a bot before it was added to Sluice. */
import {
  countSubscribers,
  importSubscribers,
  listSubscribers,
  MOST_IMPORTED,
  SubscriberImport,
} from '../../../telegram/subscribers/api.ts'
import { call } from '../../ground/call.ts'
import { count } from '../../ground/figures/figures.ts'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { useRequestDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { Checkbox, SelectField, TextArea } from '../../ground/ui/field.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { useBots } from '../bots/bot-choice.tsx'

type ImportDialogProps = { open: boolean; onClose: () => void; bot: string | undefined }

export function ImportDialog({ open, onClose, bot }: ImportDialogProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Import subscribers"
      description="People who started the bot before it was added here, by Telegram id."
    >
      <ImportForm onClose={onClose} bot={bot} />
    </Dialog>
  )
}

const idsOf = (text: string) => text.split(/[\s,;]+/).filter(id => id !== '')
const isId = (id: string) => SubscriberImport.shape.user_ids.element.safeParse(id).success

function ImportForm({ onClose, bot }: Omit<ImportDialogProps, 'open'>) {
  const bots = useBots()
  const form = useRequestDraft({
    schema: SubscriberImport,
    values: { bot_id: bot ?? '', text: '', started_the_bot: false },
    requestOf: ({ text, started_the_bot }) => ({ user_ids: idsOf(text), started_the_bot: started_the_bot as true }),
    fieldOf: ([field]) => (field === 'user_ids' ? 'text' : 'started_the_bot'),
  })
  const { errors } = form.formState
  const bot_id = form.watch('bot_id') || (bots[0]?.id ?? '')
  const user_ids = idsOf(form.watch('text'))
  const badId = user_ids.find(id => !isId(id))
  return (
    <DraftForm
      form={form}
      action="Import"
      endpoint={importSubscribers}
      deed={body => call(importSubscribers, { params: { id: bot_id }, body })}
      refresh={[listSubscribers, countSubscribers]}
      onClose={onClose}
      onSaved={({ added, known }) =>
        notify(
          `${count(added)} subscribers imported`,
          known === 0 ? undefined : `${count(known)} were subscribers already`,
        )
      }
    >
      <SelectField label="Bot" {...form.register('bot_id')} value={bot_id}>
        {bots.map(({ id, username }) => (
          <option key={id} value={id}>
            @{username}
          </option>
        ))}
      </SelectField>
      <TextArea
        label="Telegram ids"
        rows={8}
        hint={
          user_ids.length === 0
            ? `One per line, or separated by commas. At most ${count(MOST_IMPORTED)} at a time.`
            : `${count(user_ids.length)} of at most ${count(MOST_IMPORTED)} at a time.`
        }
        error={errors.text && `${badId === undefined ? '' : `“${badId}” `}${errors.text.message}`}
        {...form.register('text')}
      />
      <Checkbox
        label="These people have started this bot"
        words={
          errors.started_the_bot === undefined
            ? 'Telegram rejects messages to anyone else, and limits bots that try.'
            : 'The bot can message only people who started it.'
        }
        {...form.register('started_the_bot')}
      />
      {errors.started_the_bot !== undefined && (
        <p role="alert" className="text-bad">
          Confirm that they have started the bot.
        </p>
      )}
    </DraftForm>
  )
}
