/** Filters a log by whole days, including the last one. Each end may be blank. */
import { zoneWords } from '../zone.ts'
import { TextField } from './field.tsx'

type DayBounds = { from?: string | undefined; to?: string | undefined }

type BetweenDaysProps = {
  search: DayBounds
  onChange: (changes: DayBounds) => void
  /** What happened at the filtered time, such as "Recorded". */
  happened: string
}

export function BetweenDays({ search, onChange, happened }: BetweenDaysProps) {
  const day = (word: string, label: string, name: 'from' | 'to') => (
    <div className="flex items-center gap-1.5">
      <span aria-hidden className="text-ink-soft">
        {word}
      </span>
      <TextField
        type="date"
        label={label}
        hideLabel
        title={label}
        className="grow [&_input]:border-line!"
        value={search[name] ?? ''}
        onChange={event => onChange({ [name]: event.target.value || undefined })}
      />
    </div>
  )
  return (
    <div className="flex flex-wrap items-center gap-2 max-sm:w-full max-sm:*:grow sm:flex-nowrap">
      {day('From', `${happened} from (${zoneWords()})`, 'from')}
      {day('to', `${happened} until and including (${zoneWords()})`, 'to')}
    </div>
  )
}
