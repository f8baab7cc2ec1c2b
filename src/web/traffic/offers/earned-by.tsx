/** Which conversions an offer pays for: one type, as most do; every type; or several. */
import { useState } from 'react'
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts'
import { inWords } from '../../ground/rungs.ts'
import { Checkbox, SelectField } from '../../ground/ui/field.tsx'

type EarnedByProps = {
  /** None: every type. Null: not chosen yet. */
  types: EventType[] | null
  error: string | undefined
  onChange: (types: EventType[] | null) => void
}

/** First in the list, where nearly everyone finds theirs. */
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
        label="Earned by"
        hint={
          now === 'every'
            ? 'A click earns the payout with each of its conversions, whatever they are.'
            : 'The conversion the network pays for. One that brings a payout of its own keeps it.'
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
            Each of them earns the payout: a lead and the deposit after it earn it twice.
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
