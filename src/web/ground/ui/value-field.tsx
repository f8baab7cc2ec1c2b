/**
 * Filters a list by exactly this text. It searches on Enter, on leaving the field, or when a suggestion is chosen, not while typing:
 * half a text matches no row, and the server would read all rows to find that out.
 */
import { useId, useState } from 'react'

type ValueFieldProps = {
  label: string
  placeholder: string
  value: string | undefined
  onChange: (value: string | undefined) => void
  /** Known values. Others may be typed too. */
  suggestions: readonly string[]
  /** Called when the field gets the focus, to load suggestions. */
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
