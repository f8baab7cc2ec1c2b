/** Names the columns without a value in the answer, which are hidden until the person shows them. */
import type { Column } from './columns.ts'

type FoldedProps = { folded: readonly Column[]; isShown: boolean; onShow: (isShown: boolean) => void }

export function FoldedColumns({ folded, isShown, onShow }: FoldedProps) {
  if (folded.length === 0) return null
  return (
    <p className="mt-2 text-sm text-ink-faint">
      {`${isShown ? 'No data' : 'Hidden (no data)'}: ${folded.map(({ title }) => title).join(', ')}. `}
      <button
        type="button"
        onClick={() => onShow(!isShown)}
        className="font-medium text-accent underline-offset-2 hover:underline"
      >
        {isShown ? 'Hide' : 'Show'}
      </button>
    </p>
  )
}
