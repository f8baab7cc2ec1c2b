/** How a network may change a conversion after it was recorded, and the form that tests a postback. */
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
type ReadPostback = NonNullable<z.input<typeof tryNetworkCall.reply>['reads_as']>

export function StatusChanges({ network, onChange }: { network: NetworkRow; onChange: (changes: Changes) => void }) {
  const [days, setDays] = useState(network.hold_days === null ? '' : String(network.hold_days))
  return (
    <div className="flex flex-col gap-4">
      <Checkbox
        label="Allow payout updates"
        words="A later postback with a paid status changes the conversion, if it has another payout or comes after a rejection. Off: it is kept under Refused."
        checked={network.amend}
        onChange={event => onChange({ amend: event.target.checked })}
      />
      <TextField
        label="Auto-approve after"
        optional
        hint="Days, 1 to 365, for conversions put on hold from now on. Blank: never."
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

/** Reads a postback by the maps in the form, saved or not. */
export function PostbackTest({ network }: { network: NetworkRow }) {
  const [text, setText] = useState('')
  const { id, parameters, statuses, default_type, unpaid_types } = network
  const test = useMutation({
    mutationFn: () =>
      call(tryNetworkCall, {
        params: { id },
        body: { call: text, parameters, statuses, default_type, unpaid_types },
      }),
  })
  return (
    <div className="flex flex-col gap-3">
      <TextArea
        label="Postback"
        hint="Paste the whole URL or its query string. Nothing is recorded."
        rows={3}
        spellCheck={false}
        className="[&_textarea]:font-mono"
        value={text}
        onChange={event => {
          setText(event.target.value)
          test.reset()
        }}
      />
      <div className="flex flex-wrap items-center gap-3">
        <Button
          pending={test.isPending}
          reason={text.trim() === '' ? 'Paste a postback first.' : undefined}
          onClick={() => test.mutate()}
        >
          Test
        </Button>
        <RefusalNote refused={test.error} />
        <output className={test.data?.error == null ? undefined : 'text-warn'}>
          {test.data !== undefined && resultOf(test.data)}
        </output>
      </div>
    </div>
  )
}

function resultOf({ reads_as, error }: z.input<typeof tryNetworkCall.reply>): string {
  return reads_as === null ? `Would be refused: ${error}.` : `${effectOf(reads_as)}${transactionOf(reads_as)}.`
}

function effectOf({ type, by_offer, verdict, payout, currency }: ReadPostback): string {
  const amount = payout === null ? '' : currency === 'USD' ? ` $${exactMoney(payout)}` : ` ${payout} ${currency}`
  if (type === null) return `Would set the recorded conversion to ${verdict}${amount === '' ? '' : ` with${amount}`}`
  const worth = amount === '' ? ' with the offer’s payout' : ` with${amount}`
  const what = by_offer ? `the type that the click’s offer pays on (${inWords(type)} if it names none)` : inWords(type)
  return `Would record ${what}${worth}${verdict === null ? '' : ', on hold'}`
}

const transactionOf = ({ transaction_id }: ReadPostback): string =>
  transaction_id === null ? ', without a transaction id' : `, transaction id ${transaction_id}`
