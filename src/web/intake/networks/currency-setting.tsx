/** What a network pays in, and what becomes of it where that is not dollars. */
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
      words="The books are in US dollars: another currency is turned into them by the rate of the day a call comes, once and for good."
    >
      <div className="flex flex-col gap-4">
        <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_6rem]">
          <SelectField
            label="A call that names none is in"
            value={kind}
            onChange={({ target }) => choose(target.value as Kind)}
          >
            <option value="usd">US dollars</option>
            <option value="other">Another currency</option>
            <option value={FROM_CALL}>None: each has to name its own</option>
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
          words="Off: what is not in US dollars is refused and kept, and can be run again."
          checked={convert}
          onChange={({ target }) => onChange({ convert: target.checked })}
        />
      </div>
    </Setting>
  )
}
