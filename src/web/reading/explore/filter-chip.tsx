/** One filter as a chip: pressed to be changed, taken away by its cross. */
import { X } from 'lucide-react'

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
