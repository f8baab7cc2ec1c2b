/** The countries of a condition: typed by code or name, or chosen; what is no country is refused at once. */
import { useState } from 'react'
import { COUNTRIES } from '../../../contract/countries.ts'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { codeOf, countryLike } from './countries.ts'

type CountryFieldProps = { values: readonly string[]; onChange: (values: string[]) => void; className?: string }

const parts = (text: string): string[] => text.split(/[,;\n]/).map(part => part.trim())

/** Names are taken as codes; what is none stays as it was typed, so that it is neither lost nor published. */
const valuesOf = (text: string): string[] => [
  ...new Set(
    parts(text)
      .filter(Boolean)
      .map(part => codeOf(part) ?? part),
  ),
]

export function CountryField({ values, onChange, className }: CountryFieldProps) {
  // What is typed is kept as typed while one types: a comma at the end is not a value yet.
  const [typed, setTyped] = useState<string>()
  const text = typed ?? values.join(', ')
  // The last word may be the beginning of one.
  const judged = typed === undefined ? values : parts(typed).slice(0, -1).filter(Boolean)
  const wrong = judged.find(part => codeOf(part) === undefined)
  const meant = wrong === undefined ? undefined : countryLike(wrong)
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
          wrong === undefined
            ? undefined
            : `“${wrong}” is no country.${meant === undefined ? ' Type a name or a code such as DE.' : ` Did you mean ${meant}?`}`
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
