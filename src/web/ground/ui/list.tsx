/**
 * A list page: the address holds the filters and the position; the list shows the rows, or says why there are none.
 * Use `const address = useListAddress(route.useSearch())`, filters that call `address.narrow`, then `<List>`.
 */
import { useNavigate } from '@tanstack/react-router'
import { FilterX, Plus, SearchX } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { reasonAgainst, useActive } from '../active.ts'
import { Button } from './button.tsx'
import { Loaded, EmptyState, Waiting } from './page.tsx'
import { Pager } from './pager.tsx'

type Search = { cursor?: string | undefined }
type Cloning = { clone?: string | undefined }

/** The filters and position in a list's address, and the functions that change them. */
export type ListAddress<S extends Search> = {
  search: S
  /** The id of the object that the open form copies. Not a filter. */
  clone: string | undefined
  /** Changes the filters, and returns to the newest row. */
  narrow: (changes: Partial<S>) => void
  /** Opens another page with the same filters. */
  go: (cursor: string | undefined) => void
  /** Removes all filters, and returns to the newest row. */
  clear: () => void
  /** Closes the form of a copy. Back does not open it again. */
  endClone: () => void
}

/** `search` is what the page's route read from the address. */
export function useListAddress<S extends Search & Cloning>({ clone, ...search }: S): ListAddress<Omit<S, 'clone'>> {
  const navigate = useNavigate()
  // The router types a search by its route, which is unknown here. S is that route's search, so the changes fit.
  const set = (next: (before: S) => object, replace = false) =>
    void navigate({ to: '.', search: next as never, replace })
  return {
    search,
    clone,
    endClone: () => set(before => ({ ...before, clone: undefined }), true),
    narrow: changes => set(before => ({ ...before, cursor: undefined, ...changes })),
    go: cursor => set(before => ({ ...before, cursor })),
    clear: () => set(() => ({})),
  }
}

type ListReply<T> = { data: readonly T[]; next_cursor: string | null }

export type ListProps<T> = {
  query: { data: ListReply<T> | undefined; error: Error | null; isPlaceholderData: boolean }
  address: Pick<ListAddress<Search>, 'search' | 'go' | 'clear'>
  /** The word for the rows, such as "landings". */
  what: string
  /** Shown if the list has no rows without filters. */
  empty: ReactNode
  /** Shown if the filters match nothing, in place of the usual words. */
  nothing?: ReactNode
  children: (rows: readonly T[]) => ReactNode
}

export function List<T>({ query, address, what, empty, nothing, children }: ListProps<T>) {
  const { cursor, ...sought } = address.search
  const isNarrowed = Object.values<unknown>(sought).some(value => value !== undefined)
  const isWhole = !isNarrowed && cursor === undefined
  return (
    <Loaded query={query}>
      {({ data, next_cursor }) => (
        <>
          {data.length > 0 ? (
            children(data)
          ) : query.isPlaceholderData ? (
            // These are the rows of the previous filters. They may be empty while the new ones are not.
            <Waiting />
          ) : isWhole ? (
            empty
          ) : nothing !== undefined && cursor === undefined ? (
            nothing
          ) : (
            <EmptyState
              icon={SearchX}
              title={`No ${what} here`}
              words={isNarrowed ? 'Nothing matches the filters.' : 'Nothing is left on this page.'}
            >
              <Button onClick={address.clear}>Show all</Button>
            </EmptyState>
          )}
          <Pager cursor={cursor} next={next_cursor} onGo={address.go} />
        </>
      )}
    </Loaded>
  )
}

type ClearProps = { isNarrowed: boolean; onClear: () => void }

/** Removes all filters. */
export function ClearFilters({ isNarrowed, onClear }: ClearProps) {
  if (!isNarrowed) return null
  const clear = () => {
    onClear()
    // The button disappears, so keyboard users would lose their place.
    document.getElementById('main')?.focus({ preventScroll: true })
  }
  return (
    <Button icon={FilterX} look="quiet" onClick={clear}>
      Clear filters
    </Button>
  )
}

type AddButtonProps = { endpoint: Endpoint; onClick: () => void; children: string }

/** The button that opens the form for a new row, enabled for people who may call the endpoint. */
export function AddButton({ endpoint, onClick, children }: AddButtonProps) {
  const { role } = useActive()
  return (
    <Button look="primary" icon={Plus} reason={reasonAgainst(endpoint, role)} onClick={onClick}>
      {children}
    </Button>
  )
}
