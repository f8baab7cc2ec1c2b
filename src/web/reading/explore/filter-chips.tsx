/** What narrows the question, as chips in one line: pressed to be changed, taken away by their cross. */
import { Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { MOST_FILTERS } from '../../../contract/explore.ts'
import { Button } from '../../ground/ui/button.tsx'
import { FilterChip } from './filter-chip.tsx'
import { FilterDialog } from './filter-dialog.tsx'
import { useNamed, type Window } from './names.ts'
import type { Words } from './level-chips.tsx'
import { type Filter, SAID_WORDS } from './search.ts'

type FilterChipsProps = {
  filters: readonly Filter[]
  words: Words
  window: Window
  onChange: (filters: readonly Filter[]) => void
  /** What stands beside them. */
  children?: ReactNode
}

const MOST_NAMED = 3

export function FilterChips({ filters, words, window, onChange, children }: FilterChipsProps) {
  /** The place of the filter that is changed; past the last for a new one. It stays while the dialog closes. */
  const [edited, setEdited] = useState(0)
  const [isOpen, setOpen] = useState(false)
  const edit = (at: number) => {
    setEdited(at)
    setOpen(true)
  }
  const named = useNamed(filters, window)
  const inWords = ([dimension, said, ...values]: Filter) => {
    const some = values.slice(0, MOST_NAMED).map(value => named(dimension, value))
    const more = values.length > MOST_NAMED ? ` and ${values.length - MOST_NAMED} more` : ''
    return { head: `${words(dimension)} ${SAID_WORDS[said]}`, values: some.join(', ') + more }
  }
  return (
    <fieldset className="flex min-w-0 flex-wrap items-center gap-1">
      <legend className="sr-only">Filters</legend>
      <span aria-hidden className="w-12 shrink-0 text-sm text-ink-faint">
        Where
      </span>
      {filters.map((filter, at) => {
        const { head, values } = inWords(filter)
        return (
          <FilterChip
            key={JSON.stringify(filter)}
            head={head}
            values={values}
            onEdit={() => edit(at)}
            onRemove={() => onChange(filters.toSpliced(at, 1))}
          />
        )
      })}
      <Button
        look="quiet"
        size="sm"
        icon={Plus}
        reason={filters.length < MOST_FILTERS ? undefined : `At most ${MOST_FILTERS} filters.`}
        onClick={() => edit(filters.length)}
      >
        Filter
      </Button>
      {children}
      <FilterDialog
        isOpen={isOpen}
        filter={filters[edited]}
        words={words}
        window={window}
        onClose={() => setOpen(false)}
        onSave={filter => {
          onChange(edited < filters.length ? filters.with(edited, filter) : [...filters, filter])
          setOpen(false)
        }}
      />
    </fieldset>
  )
}
