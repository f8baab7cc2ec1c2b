/** Opens the trace of a click id. */
import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useId, useState } from 'react'

export function FindClick() {
  const id = useId()
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  return (
    <search className="w-full sm:w-52">
      <form
        className="relative"
        onSubmit={event => {
          event.preventDefault()
          const sought = typed.trim()
          if (sought !== '') void navigate({ to: '/clicks/$id', params: { id: sought } })
        }}
      >
        <label htmlFor={id} className="sr-only">
          Trace a click id
        </label>
        <Search
          aria-hidden
          className="pointer-events-none absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-ink-faint"
        />
        <input
          id={id}
          type="search"
          value={typed}
          placeholder="Trace a click id"
          spellCheck={false}
          onChange={event => setTyped(event.target.value)}
          className="control w-full border-line! pl-8!"
        />
      </form>
    </search>
  )
}
