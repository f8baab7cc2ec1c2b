/** Sends a broadcast's message to one subscriber as a test. */
import { useMutation } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { testBroadcast } from '../../../telegram/broadcasts/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { type BroadcastRow, SHOW_BROADCASTS } from './state.tsx'

/** The browser's storage key for the last test recipient. */
const LAST_RECIPIENT = 'sluice-test-recipient'

type TestProps = {
  broadcast: BroadcastRow
  saveFirst: () => Promise<void>
  examples: readonly { readonly telegram_user_id: string; readonly name: string | null }[]
}

export function TestPart({ broadcast: { id }, saveFirst, examples }: TestProps) {
  const { role } = useActive()
  const refresh = useRefresh()
  const list = useId()
  const [user, setUser] = useState(() => localStorage.getItem(LAST_RECIPIENT) ?? '')
  const send = useMutation({
    mutationFn: async () => {
      await saveFirst()
      return await call(testBroadcast, { params: { id }, body: { user: user.trim() } })
    },
    onSuccess: async ({ is_sent }) => {
      localStorage.setItem(LAST_RECIPIENT, user.trim())
      if (is_sent) notify('Test sent')
      await refresh(...SHOW_BROADCASTS)
    },
  })
  const missing = /^\d{1,19}$/.test(user.trim()) ? undefined : 'Enter a Telegram id.'
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={event => {
        event.preventDefault()
        if (missing === undefined) send.mutate()
      }}
    >
      <TextField
        label="Send a test to"
        placeholder="Telegram id"
        inputMode="numeric"
        list={list}
        hint="The id of someone who has started the bot. The test is marked [Test] and not counted."
        value={user}
        onChange={event => setUser(event.target.value)}
      />
      <datalist id={list}>
        {examples.map(({ telegram_user_id, name }) => (
          <option key={telegram_user_id} value={telegram_user_id}>
            {name ?? ''}
          </option>
        ))}
      </datalist>
      <Button
        type="submit"
        className="self-start"
        pending={send.isPending}
        reason={reasonAgainst(testBroadcast, role) ?? missing}
      >
        Send test
      </Button>
      <RefusalNote refused={send.error} />
      {send.data?.is_sent === false && (
        <Note kind="warning">
          <strong>Telegram:</strong> {send.data.reason}
        </Note>
      )}
    </form>
  )
}
