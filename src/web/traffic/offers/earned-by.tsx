/** Which conversions earn an offer's payout: usually one type, else several or every type. */
import { useState } from 'react'
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts'
import { inWords } from '../../ground/rungs.ts'
import { Checkbox, SelectField } from '../../ground/ui/field.tsx'

type EarnedByProps = {
  /** An empty array means every type; null means not chosen yet. */
  types: EventType[] | null
  error: string | undefined
  onChange: (types: EventType[] | null) => void
}

/** The types that networks usually pay for, listed first. */
const USUAL: readonly EventType[] = ['lead', 'registration', 'deposit', 'ftd', 'purchase', 'subscription_renewed']

const optionOf = (type: EventType) => (
  <option key={type} value={type}>
    {inWords(type)}
  </option>
)

export function EarnedBy({ types, error, onChange }: EarnedByProps) {
  const [isSeveral, setIsSeveral] = useState(types !== null && types.length > 1)
  const [first] = types ?? []
  const now = isSeveral ? 'several' : types === null ? '' : (first ?? 'every')
  const choose = (value: string) => {
    setIsSeveral(value === 'several')
    const one = EVENT_TYPES.filter(type => type === value)
    if (value === 'several') onChange(first === undefined ? null : types)
    else onChange(value === 'every' ? [] : one)
  }
  const tick = (type: EventType, isTicked: boolean) => {
    const ticked = EVENT_TYPES.filter(one => (one === type ? isTicked : types?.includes(one)))
    onChange(ticked.length === 0 ? null : ticked)
  }
  return (
    <>
      <SelectField
        label="Pays on"
        hint={
          now === 'every'
            ? 'Every conversion of a click earns the payout, whatever its type.'
            : 'The conversion the network pays for. A payout in the postback overrides this.'
        }
        className="max-w-xs"
        error={error}
        value={now}
        onChange={event => choose(event.target.value)}
      >
        {now === '' && <option value="">Choose a conversion</option>}
        <optgroup label="What networks pay for">{USUAL.map(optionOf)}</optgroup>
        <optgroup label="Other conversions">{EVENT_TYPES.filter(type => !USUAL.includes(type)).map(optionOf)}</optgroup>
        <optgroup label="More than one">
          <option value="several">Several types…</option>
          <option value="every">Every conversion, each time</option>
        </optgroup>
      </SelectField>
      {isSeveral && (
        <fieldset>
          <legend className="mb-2 text-sm text-ink-faint">
            Each type earns the payout: a lead and the deposit after it earn it twice.
          </legend>
          <div className="grid grid-cols-2 gap-2 sm:grid-cols-3">
            {EVENT_TYPES.map(type => (
              <Checkbox
                key={type}
                label={inWords(type)}
                checked={types?.includes(type) ?? false}
                onChange={event => tick(type, event.target.checked)}
              />
            ))}
          </div>
        </fieldset>
      )}
    </>
  )
}
