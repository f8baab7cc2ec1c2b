/** The fields for hours of a day. */
import type { HoursOfDay } from '../../contract/telegram-audience.ts'
import { Checkbox, TextField } from './ui/field.tsx'
import { zoneNow } from './zone.ts'

type HoursProps = {
  label: string
  words: string
  usual: Pick<HoursOfDay, 'from' | 'to'>
  hours: HoursOfDay | null
  onChange: (hours: HoursOfDay | null) => void
}

/** Hours of a day, which a check box switches on. A new choice is in the workspace's time zone. */
export function HoursFields({ label, words, usual, hours, onChange }: HoursProps) {
  const zone = hours?.time_zone ?? zoneNow()
  return (
    <div className="flex flex-col gap-2">
      <Checkbox
        label={label}
        words={words}
        checked={hours !== null}
        onChange={event => onChange(event.target.checked ? { ...usual, time_zone: zone } : null)}
      />
      {hours !== null && (
        <div className="flex flex-wrap items-end gap-2 pl-6.5">
          <TextField
            type="time"
            label="From"
            value={hours.from}
            onChange={event => onChange({ ...hours, from: event.target.value || usual.from })}
          />
          <TextField
            type="time"
            label="Until"
            value={hours.to}
            onChange={event => onChange({ ...hours, to: event.target.value || usual.to })}
          />
          <span className="pb-1.5 text-sm text-ink-soft">{zone.replaceAll('_', ' ')}</span>
        </div>
      )}
    </div>
  )
}
