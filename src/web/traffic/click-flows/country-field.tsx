/** The countries of a condition, typed by code or name, or chosen. A text that is no country shows an error at once. */
import { useState } from 'react'
import { COUNTRIES } from '../../../contract/countries.ts'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { codeOf, countryLike } from './countries.ts'

type CountryFieldProps = { values: readonly string[]; onChange: (values: string[]) => void; className?: string }

const parts = (text: string): string[] => text.split(/[,;\n]/).map(part => part.trim())

/** Names become codes. A text that is no country stays as typed: it is not lost, and publishing refuses it. */
const valuesOf = (text: string): string[] => [
  ...new Set(
    parts(text)
      .filter(Boolean)
      .map(part => codeOf(part) ?? part),
  ),
]

export function CountryField({ values, onChange, className }: CountryFieldProps) {
  // The text stays as typed, because a trailing comma is not a value yet.
  const [typed, setTyped] = useState<string>()
  const text = typed ?? values.join(', ')
  // The last part is not checked while typing, because it may be incomplete.
  const checked = typed === undefined ? values : parts(typed).slice(0, -1).filter(Boolean)
  const unknown = checked.find(part => codeOf(part) === undefined)
  const suggestion = unknown === undefined ? undefined : countryLike(unknown)
  const names = values.flatMap(code => COUNTRIES.get(code) ?? [])
  return (
    <div className={className}>
      <TextField
        label="Countries, separated by commas"
        placeholder="DE, Austria"
        autoComplete="off"
        spellCheck={false}
        value={text}
        {...(names.length === 0 ? { hint: 'Codes or names: DE, Austria' } : { hint: names.join(', ') })}
        error={
          unknown === undefined
            ? undefined
            : `“${unknown}” is not a country.${suggestion === undefined ? ' Type a name or a code such as DE.' : ` Did you mean ${suggestion}?`}`
        }
        onChange={({ target }) => {
          setTyped(target.value)
          onChange(valuesOf(target.value))
        }}
        onBlur={() => setTyped(undefined)}
      />
      <SelectField
        label="Add a country"
        hideLabel
        className="mt-2"
        value=""
        onChange={({ target }) => {
          setTyped(undefined)
          onChange([...new Set([...values, target.value])])
        }}
      >
        <option value="">Add a country …</option>
        {[...COUNTRIES].map(([code, name]) => (
          <option key={code} value={code}>
            {name} ({code})
          </option>
        ))}
      </SelectField>
    </div>
  )
}
