/** What a network may say of a conversion after it was recorded: amounts that change, holds that end, and a call tried out. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { type Network, type NetworkChanges, tryNetworkCall } from '../../../intake/networks/api.ts'
import { call } from '../../ground/call.ts'
import { exactMoney } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Checkbox, TextArea, TextField } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'

type NetworkRow = z.input<typeof Network>
type Changes = z.input<typeof NetworkChanges>
type Tried = NonNullable<z.input<typeof tryNetworkCall.reply>['reads_as']>

export function AfterTheFact({ network, onChange }: { network: NetworkRow; onChange: (changes: Changes) => void }) {
  const [days, setDays] = useState(network.hold_days === null ? '' : String(network.hold_days))
  return (
    <div className="flex flex-col gap-4">
      <Checkbox
        label="Later amounts count"
        words="A paid word with another amount, or after a refusal, changes the conversion. Off: it is kept under Refused as differing."
        checked={network.amend}
        onChange={event => onChange({ amend: event.target.checked })}
      />
      <TextField
        label="Approve by itself after"
        optional
        hint="Days, 1 to 365, for what is put on hold from then on. Empty: only the network or you approve it."
        className="w-80 max-w-full"
        inputMode="numeric"
        value={days}
        onChange={event => {
          setDays(event.target.value)
          const text = event.target.value.trim()
          onChange({ hold_days: text === '' ? null : Number(text) })
        }}
      />
    </div>
  )
}

/** Reads a call by the maps as they stand in the form, saved or not. */
export function TryCall({ network }: { network: NetworkRow }) {
  const [text, setText] = useState('')
  const { id, parameters, statuses, default_type, unpaid_types } = network
  const tried = useMutation({
    mutationFn: () =>
      call(tryNetworkCall, {
        params: { id },
        body: { call: text, parameters, statuses, default_type, unpaid_types },
      }),
  })
  return (
    <div className="flex flex-col gap-3">
      <TextArea
        label="A call of the network"
        hint="An address it called, or what stands behind its question mark. Nothing is recorded."
        rows={3}
        spellCheck={false}
        className="[&_textarea]:font-mono"
        value={text}
        onChange={event => {
          setText(event.target.value)
          tried.reset()
        }}
      />
      <div className="flex flex-wrap items-center gap-3">
        <Button
          pending={tried.isPending}
          reason={text.trim() === '' ? 'Paste a call first.' : undefined}
          onClick={() => tried.mutate()}
        >
          Try it
        </Button>
        <RefusalNote refused={tried.error} />
        <output className={tried.data?.error == null ? undefined : 'text-warn'}>
          {tried.data !== undefined && wordsOf(tried.data)}
        </output>
      </div>
    </div>
  )
}

function wordsOf({ reads_as, error }: z.input<typeof tryNetworkCall.reply>): string {
  return reads_as === null ? `Would be refused: ${error}.` : `${deedOf(reads_as)}${transactionOf(reads_as)}.`
}

function deedOf({ type, by_offer, verdict, payout, currency }: Tried): string {
  const amount = payout === null ? '' : currency === 'USD' ? ` $${exactMoney(payout)}` : ` ${payout} ${currency}`
  if (type === null) return `Would mark the recorded conversion as ${verdict}${amount === '' ? '' : ` with${amount}`}`
  const worth = amount === '' ? ' with the payout of its offer' : ` with${amount}`
  const what = by_offer ? `what the click’s offer pays for (${inWords(type)} where it names no type)` : inWords(type)
  return `Would record ${what}${worth}${verdict === null ? '' : ', on hold'}`
}

const transactionOf = ({ transaction_id }: Tried): string =>
  transaction_id === null ? ', without a transaction id' : `, transaction ${transaction_id}`
