/**
 * A list page: its address says what is looked for and where one is in it; the list shows the rows, or says why there are none.
 * `const address = useListAddress(route.useSearch())`, filters that call `address.narrow`, then `<List>`.
 */
import { useNavigate } from '@tanstack/react-router'
import { FilterX, Plus, SearchX } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { reasonAgainst, useActive } from '../active.ts'
import { Button } from './button.tsx'
import { Asked, EmptyState, Waiting } from './page.tsx'
import { Pager } from './pager.tsx'

type Search = { cursor?: string | undefined }
type Cloning = { clone?: string | undefined }

/** What the address of a list says, and the ways to change it. */
export type ListAddress<S extends Search> = {
  search: S
  /** The id of what the open form for a new one is a copy of; no part of what is looked for. */
  clone: string | undefined
  /** Changes what is looked for. Another question begins at its newest row. */
  narrow: (changes: Partial<S>) => void
  /** Goes to another page of the same question. */
  go: (cursor: string | undefined) => void
  /** Looks for everything again, from the newest. */
  clear: () => void
  /** The form of the copy is closed; Back does not open it again. */
  endClone: () => void
}

/** Of what the page's own route reads from its address. */
export function useListAddress<S extends Search & Cloning>({ clone, ...search }: S): ListAddress<Omit<S, 'clone'>> {
  const navigate = useNavigate()
  // The router types a search by its route, which is not known here; S is what that route reads, so the changes fit it.
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

type Listed<T> = { data: readonly T[]; next_cursor: string | null }

export type ListProps<T> = {
  query: { data: Listed<T> | undefined; error: Error | null; isPlaceholderData: boolean }
  address: Pick<ListAddress<Search>, 'search' | 'go' | 'clear'>
  /** What the rows are: "landings". */
  what: string
  /** Shown when there is nothing at all. */
  empty: ReactNode
  /** Shown when nothing is found, where there is more to say than that. */
  nothing?: ReactNode
  children: (rows: readonly T[]) => ReactNode
}

export function List<T>({ query, address, what, empty, nothing, children }: ListProps<T>) {
  const { cursor, ...sought } = address.search
  const isNarrowed = Object.values<unknown>(sought).some(value => value !== undefined)
  const isWhole = !isNarrowed && cursor === undefined
  return (
    <Asked query={query}>
      {({ data, next_cursor }) => (
        <>
          {data.length > 0 ? (
            children(data)
          ) : query.isPlaceholderData ? (
            // The rows of the last question, whose emptiness says nothing of the one on its way.
            <Waiting />
          ) : isWhole ? (
            empty
          ) : nothing !== undefined && cursor === undefined ? (
            nothing
          ) : (
            <EmptyState
              icon={SearchX}
              title={`No ${what} here`}
              words={isNarrowed ? 'Nothing matches what you look for.' : 'Nothing is left on this page.'}
            >
              <Button onClick={address.clear}>Show all</Button>
            </EmptyState>
          )}
          <Pager cursor={cursor} next={next_cursor} onGo={address.go} />
        </>
      )}
    </Asked>
  )
}

type ClearProps = { isNarrowed: boolean; onClear: () => void }

/** Empties all filters at once. */
export function ClearFilters({ isNarrowed, onClear }: ClearProps) {
  if (!isNarrowed) return null
  const clear = () => {
    onClear()
    // The button goes, and whoever pressed it by keyboard would be nowhere.
    document.getElementById('main')?.focus({ preventScroll: true })
  }
  return (
    <Button icon={FilterX} look="quiet" onClick={clear}>
      Clear filters
    </Button>
  )
}

type AddButtonProps = { endpoint: Endpoint; onClick: () => void; children: string }

/** Opens what adds a row, for those who may call the endpoint. */
export function AddButton({ endpoint, onClick, children }: AddButtonProps) {
  const { role } = useActive()
  return (
    <Button look="primary" icon={Plus} reason={reasonAgainst(endpoint, role)} onClick={onClick}>
      {children}
    </Button>
  )
}
