/** The currency a network pays in, and whether other currencies are converted to dollars. */
import { useState } from 'react'
import type { z } from 'zod'
import { FROM_CALL, type Network, type NetworkChanges } from '../../../intake/networks/api.ts'
import { CurrencyField } from '../../ground/original.tsx'
import { Checkbox, SelectField } from '../../ground/ui/field.tsx'
import { Setting } from '../../ground/ui/page.tsx'

type Changes = Pick<z.input<typeof NetworkChanges>, 'currency' | 'convert'>
type Kind = 'usd' | 'other' | typeof FROM_CALL

type CurrencySettingProps = {
  network: Pick<z.input<typeof Network>, 'currency' | 'convert'>
  onChange: (changes: Changes) => void
}

export function CurrencySetting({ network: { currency, convert }, onChange }: CurrencySettingProps) {
  const [kind, setKind] = useState<Kind>(currency === FROM_CALL ? FROM_CALL : currency === 'USD' ? 'usd' : 'other')
  const choose = (chosen: Kind) => {
    setKind(chosen)
    if (chosen === 'usd') onChange({ currency: 'USD' })
    if (chosen === FROM_CALL) onChange({ currency: FROM_CALL, convert: true })
    if (chosen === 'other') onChange({ currency: 'EUR', convert: true })
  }
  return (
    <Setting
      title="Currency"
      words="Revenue is kept in US dollars. Payouts in other currencies are converted once, at the rate of the day of the postback."
    >
      <div className="flex flex-col gap-4">
        <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_6rem]">
          <SelectField
            label="If the postback names no currency"
            value={kind}
            onChange={({ target }) => choose(target.value as Kind)}
          >
            <option value="usd">US dollars</option>
            <option value="other">Another currency</option>
            <option value={FROM_CALL}>Refuse: each postback must name one</option>
          </SelectField>
          {kind === 'other' && (
            <CurrencyField
              label="Code"
              required
              value={currency}
              onChange={({ target }) => onChange({ currency: target.value.toUpperCase() })}
            />
          )}
        </div>
        <Checkbox
          label="Convert other currencies"
          words="Off: postbacks in other currencies are refused. They are kept and can be run again."
          checked={convert}
          onChange={({ target }) => onChange({ convert: target.checked })}
        />
      </div>
    </Setting>
  )
}
