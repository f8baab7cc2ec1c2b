/** Filters a page by one of several values. The first option is no filter. */
import { SelectField } from './field.tsx'

type ChoiceProps<T extends string> = {
  label: string
  /** The label of no filter, such as "Any status". */
  any: string
  options: readonly T[]
  words: (option: T) => string
  value: T | undefined
  onChange: (value: T | undefined) => void
  className?: string
}

export function Choice<T extends string>({ label, any, options, words, value, onChange, className }: ChoiceProps<T>) {
  return (
    <SelectField
      label={label}
      hideLabel
      toolbar
      className={className ?? 'min-w-32 flex-1 sm:max-w-44 sm:flex-none'}
      value={value ?? ''}
      onChange={event => onChange(options.find(option => option === event.target.value))}
    >
      <option value="">{any}</option>
      {options.map(option => (
        <option key={option} value={option}>
          {words(option)}
        </option>
      ))}
    </SelectField>
  )
}
