/**
 * The page of a list whose rows are added in a dialog: title, filters, the button that adds, and the list. The empty state has the same
 * button.
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
  /** The word for the rows, if it is not the title: "rules". */
  what?: string
  /** The filters of the list. */
  filters?: ReactNode
  empty: { icon: LucideIcon; words: string }
  address: Pick<ListAddress<NameSearch>, 'search' | 'go' | 'clear' | 'clone' | 'endClone'>
  /** The button, enabled for people who may call the endpoint, and the dialog it opens: empty, or a copy of the object with the id `clone`. */
  add: {
    endpoint: Endpoint
    words: string
    dialog: (dialog: { open: boolean; onClose: () => void; clone: string | undefined }) => ReactNode
  }
  /** Shown below the list. */
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

type NameSearch = { q?: string | undefined; status?: string | undefined; cursor?: string | undefined }

type NameAndStatusProps<S extends NameSearch> = {
  address: ListAddress<S>
  statuses: readonly NonNullable<S['status']>[]
}

/** Filters a list by part of the name and by status. */
export function NameAndStatus<S extends NameSearch>({ address, statuses }: NameAndStatusProps<S>) {
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
