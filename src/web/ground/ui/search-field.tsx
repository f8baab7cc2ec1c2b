/** Searches names. The address changes shortly after typing; the field follows the address after Back or clearing. */
import { Search } from 'lucide-react'
import { useEffect, useId, useState } from 'react'

const PAUSE_MS = 250

type SearchProps = {
  value: string | undefined
  onSeek: (sought: string | undefined) => void
  label?: string
  placeholder?: string
}

export function SearchField({ value = '', onSeek, label = 'Search', placeholder = 'Search' }: SearchProps) {
  const id = useId()
  const [typed, setTyped] = useState(value)
  const [asked, setAsked] = useState(value)
  const [seen, setSeen] = useState(value)
  if (value !== seen) {
    setSeen(value)
    // The address changed, but not by typing here.
    if (value !== asked) {
      setAsked(value)
      setTyped(value)
    }
  }
  useEffect(() => {
    const sought = typed.trim()
    if (sought === asked) return
    const timer = setTimeout(() => {
      setAsked(sought)
      onSeek(sought === '' ? undefined : sought)
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  })
  return (
    <div className="relative w-full sm:w-52">
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      <Search
        aria-hidden
        className="pointer-events-none absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-ink-faint"
      />
      <input
        id={id}
        type="search"
        value={typed}
        placeholder={placeholder}
        onChange={event => setTyped(event.target.value)}
        className="control w-full border-line! pl-8!"
      />
    </div>
  )
}
