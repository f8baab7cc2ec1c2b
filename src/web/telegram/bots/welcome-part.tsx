/** The bot's reply to a start, with a preview. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { messageFault } from '../../../contract/telegram-message.ts'
import { updateBot } from '../../../telegram/bots/api.ts'
import { listChannels } from '../../../telegram/channels/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { Checkbox } from '../../ground/ui/field.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { isChanged, useUnsaved } from '../../ground/ui/unsaved.ts'
import { MessageEditor } from '../messages/editor.tsx'
import { MessagePreview, type MessageDraft } from '../messages/preview.tsx'
import { type BotRow, SHOW_BOTS } from './state.tsx'

const MOST_CHANNELS = 200
const EMPTY: MessageDraft = { text: '' }

export function WelcomePart({ bot }: { bot: BotRow }) {
  const { id, mode } = bot
  const { role } = useActive()
  const refresh = useRefresh()
  const before = { isOn: bot.welcome !== null, message: bot.welcome ?? EMPTY }
  const [draft, setDraft] = useState(before)
  const [showsFaults, setShowsFaults] = useState(false)
  const { isOn, message } = draft
  useUnsaved(isChanged(draft, before), 'the welcome')
  const channels = useQuery(ask(listChannels, { query: { limit: MOST_CHANNELS } })).data?.data ?? []
  const save = useMutation({
    mutationFn: () => call(updateBot, { params: { id }, body: { welcome: isOn ? message : null } }),
    onSuccess: async saved => {
      await refresh(...SHOW_BOTS)
      notify(saved.welcome === null ? 'Welcome switched off' : 'Welcome saved')
    },
  })
  const submit = () => {
    setShowsFaults(true)
    if (!isOn || messageFault(message) === undefined) save.mutate()
  }
  return (
    <PartForm action="Save welcome" onSubmit={submit} save={save} reason={reasonAgainst(updateBot, role)}>
      {mode !== 'own' && <Note kind="warning">Your program runs this bot, so Sluice sends no welcome.</Note>}
      <Checkbox
        label="Send a welcome message"
        words="At most once per person in 24 hours."
        checked={isOn}
        onChange={event => setDraft({ ...draft, isOn: event.target.checked })}
      />
      {isOn && (
        <div className="grid items-start gap-6 xl:grid-cols-[minmax(0,1fr)_20rem]">
          <MessageEditor
            message={message}
            channels={channels}
            showsFaults={showsFaults || isChanged(message, before.message)}
            onChange={changed => setDraft({ ...draft, message: changed })}
          />
          <MessagePreview message={message} withOptOut={false} />
        </div>
      )}
    </PartForm>
  )
}
