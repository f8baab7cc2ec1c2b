/**
 * Narrows a list to the rows with exactly this text. It is looked for on Enter, on leaving the field, or once a suggestion is taken, not while
 * someone types: the beginning of a text is a rare value itself, which may be looked for through all rows in vain.
 */
import { useId, useState } from 'react'

type ValueFieldProps = {
  label: string
  placeholder: string
  value: string | undefined
  onChange: (value: string | undefined) => void
  /** Values that are there; others may be typed as well. */
  suggestions: readonly string[]
  /** Someone is about to type: suggestions may be fetched. */
  onFocus?: () => void
}

export function ValueField({ label, placeholder, value = '', onChange, suggestions, onFocus }: ValueFieldProps) {
  const id = useId()
  const [typed, setTyped] = useState(value)
  const [seen, setSeen] = useState(value)
  if (value !== seen) {
    setSeen(value)
    setTyped(value)
  }
  const seek = (text: string) => {
    const sought = suggestions.includes(text) ? text : text.trim()
    setTyped(sought)
    if (sought !== value) onChange(sought === '' ? undefined : sought)
  }
  return (
    <div className="min-w-32 flex-1 sm:w-40 sm:flex-none">
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      <input
        id={id}
        type="search"
        list={`${id}-known`}
        value={typed}
        placeholder={placeholder}
        title={label}
        spellCheck={false}
        autoComplete="off"
        onFocus={onFocus}
        onBlur={() => seek(typed)}
        onKeyDown={event => event.key === 'Enter' && seek(typed)}
        onChange={({ target, nativeEvent }) => {
          const isTyped = nativeEvent instanceof InputEvent && nativeEvent.inputType !== 'insertReplacementText'
          setTyped(target.value)
          if (target.value === '' || (!isTyped && suggestions.includes(target.value))) seek(target.value)
        }}
        className="control w-full border-line!"
      />
      <datalist id={`${id}-known`}>
        {suggestions.map(known => (
          <option key={known} value={known}>
            {known}
          </option>
        ))}
      </datalist>
    </div>
  )
}
