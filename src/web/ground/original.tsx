/** Amounts in other currencies, as they were sent, and the field for a currency. */
import { useQuery } from '@tanstack/react-query'
import { type ComponentProps, useId } from 'react'
import type { z } from 'zod'
import type { OriginalMoney } from '../../contract/currencies.ts'
import { listRates, type RateSource } from '../../money/rates/api.ts'
import { ask } from './call.ts'
import { day, exactMoney } from './figures/figures.ts'
import { TextField } from './ui/field.tsx'

type Money = z.input<typeof OriginalMoney>

export const SOURCE_NAMES: Record<RateSource, string> = {
  ecb: 'European Central Bank',
  cbr: 'Bank of Russia',
  openexchangerates: 'Open Exchange Rates',
  import: 'Imported file',
  own: 'Own rate',
}

const sourceOf = (name: string): string => SOURCE_NAMES[name as RateSource] ?? name

/** `10 EUR at 1.1`, with the source and the day of the rate in the title. Nothing for US dollars. */
export function Original({ money }: { money: Money | null }) {
  if (money === null) return null
  const { original_amount, currency, usd_per_unit, rate_day, rate_source } = money
  return (
    <span className="text-ink-faint" title={`${sourceOf(rate_source)}, ${day(rate_day)}`}>
      {exactMoney(original_amount)} {currency} at {usd_per_unit}
    </span>
  )
}

type CurrencyFieldProps = Omit<ComponentProps<typeof TextField>, 'list' | 'ref'> & { ref?: React.Ref<HTMLInputElement> }

/** Accepts any code, and suggests those that have a rate today. */
export function CurrencyField(props: CurrencyFieldProps) {
  const id = useId()
  const rates = useQuery(ask(listRates, { query: {} })).data?.rates ?? []
  return (
    <>
      <TextField
        {...props}
        list={id}
        autoComplete="off"
        spellCheck={false}
        maxLength={8}
        className={`[&_input]:uppercase [&_input]:placeholder:normal-case ${props.className ?? ''}`}
      />
      <datalist id={id}>
        {['USD', ...rates.map(({ currency }) => currency)].map(code => (
          <option key={code} value={code}>
            {code}
          </option>
        ))}
      </datalist>
    </>
  )
}
