/** The message that answers a start, with how it arrives beside it. */
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
import { MessagePreview, type Written } from '../messages/preview.tsx'
import { type BotRow, SHOW_BOTS } from './state.tsx'

const MOST_CHANNELS = 200
const FIRST: Written = { text: '' }

export function WelcomePart({ bot }: { bot: BotRow }) {
  const { id, mode } = bot
  const { role } = useActive()
  const refresh = useRefresh()
  const before = { isOn: bot.welcome !== null, message: bot.welcome ?? FIRST }
  const [written, setWritten] = useState(before)
  const [isJudged, setJudged] = useState(false)
  const { isOn, message } = written
  useUnsaved(isChanged(written, before), 'the welcome')
  const channels = useQuery(ask(listChannels, { query: { limit: MOST_CHANNELS } })).data?.data ?? []
  const save = useMutation({
    mutationFn: () => call(updateBot, { params: { id }, body: { welcome: isOn ? message : null } }),
    onSuccess: async saved => {
      await refresh(...SHOW_BOTS)
      notify(saved.welcome === null ? 'Starts are not answered' : 'The welcome is saved')
    },
  })
  const submit = () => {
    setJudged(true)
    if (!isOn || messageFault(message) === undefined) save.mutate()
  }
  return (
    <PartForm action="Save welcome" onSubmit={submit} save={save} reason={reasonAgainst(updateBot, role)}>
      {mode !== 'own' && (
        <Note kind="warning">
          Your program runs this bot and says its own welcome. Sluice sends none while it does.
        </Note>
      )}
      <Checkbox
        label="Answer a start with a message"
        words="Once per person and 24 hours."
        checked={isOn}
        onChange={event => setWritten({ ...written, isOn: event.target.checked })}
      />
      {isOn && (
        <div className="grid items-start gap-6 xl:grid-cols-[minmax(0,1fr)_20rem]">
          <MessageEditor
            message={message}
            channels={channels}
            isJudged={isJudged || isChanged(message, before.message)}
            onChange={changed => setWritten({ ...written, message: changed })}
          />
          <MessagePreview message={message} withOptOut={false} />
        </div>
      )}
    </PartForm>
  )
}
