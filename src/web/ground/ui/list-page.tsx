/**
 * The page of a list whose rows are added in a dialog: title, what narrows it, the button that adds, and the list itself. What is said
 * of an empty list offers the same button.
 */
import type { LucideIcon } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { inWords } from '../rungs.ts'
import { Choice } from './choice.tsx'
import { AddButton, List, type ListAddress, type ListProps } from './list.tsx'
import { EmptyState, PageHeader } from './page.tsx'
import { SearchField } from './search-field.tsx'

type ListPageProps<T> = Omit<ListProps<T>, 'what' | 'empty' | 'address'> & {
  title: string
  words: string
  /** What the rows are, where that is not the title: "rules". */
  what?: string
  /** What narrows the list. */
  filters?: ReactNode
  empty: { icon: LucideIcon; words: string }
  address: Pick<ListAddress<Named>, 'search' | 'go' | 'clear' | 'clone' | 'endClone'>
  /** The button, for those who may call the endpoint, and the dialog it opens: empty, or as a copy of what has the id `clone`. */
  add: {
    endpoint: Endpoint
    words: string
    dialog: (dialog: { open: boolean; onClose: () => void; clone: string | undefined }) => ReactNode
  }
  /** Stands below the list. */
  below?: ReactNode
}

export function ListPage<T>(props: ListPageProps<T>) {
  const { title, words, what = title.toLowerCase(), filters, empty, add, below, ...list } = props
  const [adding, setAdding] = useState(false)
  const { clone, endClone } = list.address
  const close = () => {
    setAdding(false)
    if (clone !== undefined) endClone()
  }
  const button = (
    <AddButton endpoint={add.endpoint} onClick={() => setAdding(true)}>
      {add.words}
    </AddButton>
  )
  return (
    <>
      <PageHeader title={title} words={words}>
        {filters}
        {button}
      </PageHeader>
      <List
        {...list}
        what={what}
        empty={
          <EmptyState icon={empty.icon} title={`No ${what} yet`} words={empty.words}>
            {button}
          </EmptyState>
        }
      />
      {below}
      {add.dialog({ open: adding || clone !== undefined, onClose: close, clone })}
    </>
  )
}

type Named = { q?: string | undefined; status?: string | undefined; cursor?: string | undefined }

type NameAndStatusProps<S extends Named> = {
  address: ListAddress<S>
  statuses: readonly NonNullable<S['status']>[]
}

/** Narrows a list by part of the name, and by status. */
export function NameAndStatus<S extends Named>({ address, statuses }: NameAndStatusProps<S>) {
  const { search, narrow } = address
  return (
    <>
      <SearchField value={search.q} onSeek={q => narrow({ q } as Partial<S>)} />
      <Choice
        label="Status"
        any="Any status"
        options={statuses}
        words={inWords}
        value={search.status}
        onChange={status => narrow({ status } as Partial<S>)}
      />
    </>
  )
}

/** The name of a row that opens in a dialog. */
export function OpenName({ children, onOpen }: { children: ReactNode; onOpen: () => void }) {
  return (
    <button
      type="button"
      onClick={onOpen}
      className="max-w-full truncate rounded-sm align-middle font-medium underline-offset-2 hover:underline"
    >
      {children}
    </button>
  )
}
