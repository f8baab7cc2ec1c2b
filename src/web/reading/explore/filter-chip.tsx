/** One filter as a chip that opens its dialog and can be removed, and the state of that dialog. */
import { X } from 'lucide-react'
import { useState } from 'react'

/** The dialog that changes one of `filters`, or adds one where `edit` gets an index past the last. `filter` stays while the dialog closes. */
export function useFilterDialog<Filter>(filters: readonly Filter[], onChange: (filters: readonly Filter[]) => void) {
  const [at, setAt] = useState(0)
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return {
    filter: filters[at],
    isOpen,
    edit: (index: number) => {
      setAt(index)
      setOpen(true)
    },
    close,
    save: (filter: Filter) => {
      onChange(at < filters.length ? filters.with(at, filter) : [...filters, filter])
      close()
    },
    remove: (index: number) => onChange(filters.toSpliced(index, 1)),
  }
}

type FilterChipProps = { head: string; values: string; onEdit: () => void; onRemove: () => void }

export function FilterChip({ head, values, onEdit, onRemove }: FilterChipProps) {
  return (
    <span className="chip max-w-full">
      <button type="button" title={values} className="chip-words" onClick={onEdit}>
        <span className="text-ink-soft">{head}</span> {values}
      </button>
      <button type="button" aria-label={`Remove the filter ${head} ${values}`} className="chip-end" onClick={onRemove}>
        <X aria-hidden className="size-3.5" />
      </button>
    </span>
  )
}
