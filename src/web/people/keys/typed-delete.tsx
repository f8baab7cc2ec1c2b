/** The confirmation of new rights of the delete tier. */
import type { Right } from '../../../contract/rights.ts'
import { TextField } from '../../ground/ui/field.tsx'

export function Slugs({ rights }: { rights: readonly Right[] }) {
  return <span className="font-mono text-sm text-ink">{rights.join(', ')}</span>
}

/** The rights that the save adds to the delete tier, and the field that confirms them. */
export function TypedDelete({
  rights,
  typed,
  onType,
}: {
  rights: readonly Right[]
  typed: string
  onType: (typed: string) => void
}) {
  return (
    <div className="flex flex-wrap items-end justify-between gap-x-6 gap-y-2 rounded-md bg-bad-soft px-3 py-2.5">
      <p className="min-w-0 flex-1 basis-72">
        <strong className="font-semibold">
          {rights.length === 1 ? 'One right is' : `${rights.length} rights are`} new in the delete tier:
        </strong>{' '}
        <Slugs rights={rights} />. Actions by such a right cannot be undone.
      </p>
      <TextField
        label="Type DELETE to add"
        value={typed}
        onChange={event => onType(event.target.value)}
        autoComplete="off"
        spellCheck={false}
        className="w-44"
      />
    </div>
  )
}
