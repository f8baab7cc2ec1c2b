/** Pages of a list, newest first: older rows, or back to the newest. The cursor is in the address. */
import { ChevronRight, ChevronsLeft } from 'lucide-react'
import { Button } from './button.tsx'

type PagerProps = { cursor: string | undefined; next: string | null; onGo: (cursor: string | undefined) => void }

export function Pager({ cursor, next, onGo }: PagerProps) {
  if (cursor === undefined && next === null) return null
  return (
    <nav aria-label="Pages" className="mt-3 flex justify-end gap-2">
      {cursor !== undefined && (
        <Button size="sm" icon={ChevronsLeft} onClick={() => onGo(undefined)}>
          Newest
        </Button>
      )}
      {next !== null && (
        <Button size="sm" onClick={() => onGo(next)}>
          Older
          <ChevronRight aria-hidden className="size-3.5" />
        </Button>
      )}
    </nav>
  )
}
