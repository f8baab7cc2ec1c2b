/** The filters of the question, as chips in one line. */
import { Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { MOST_FILTERS } from '../../../contract/explore.ts'
import { Button } from '../../ground/ui/button.tsx'
import { FilterChip, useFilterDialog } from './filter-chip.tsx'
import { FilterDialog } from './filter-dialog.tsx'
import { useNamed } from './names.ts'
import type { WindowBounds } from './question.ts'
import type { Words } from './level-chips.tsx'
import { type Filter, CONDITION_WORDS } from './search.ts'

type FilterChipsProps = {
  filters: readonly Filter[]
  words: Words
  window: WindowBounds
  onChange: (filters: readonly Filter[]) => void
  children?: ReactNode
}

const MOST_NAMED = 3

export function FilterChips({ filters, words, window, onChange, children }: FilterChipsProps) {
  const { filter: edited, isOpen, edit, close, save, remove } = useFilterDialog(filters, onChange)
  const named = useNamed(filters, window)
  const inWords = ([dimension, said, ...values]: Filter) => {
    const some = values.slice(0, MOST_NAMED).map(value => named(dimension, value))
    const more = values.length > MOST_NAMED ? ` and ${values.length - MOST_NAMED} more` : ''
    return { head: `${words(dimension)} ${CONDITION_WORDS[said]}`, values: some.join(', ') + more }
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
            onRemove={() => remove(at)}
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
      <FilterDialog isOpen={isOpen} filter={edited} words={words} window={window} onClose={close} onSave={save} />
    </fieldset>
  )
}
