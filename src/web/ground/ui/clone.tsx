/**
 * Cloning: the form for a new one, filled with all of another. The address says of which, and nothing is saved until the form is. The
 * original is read anew each time, because a list may be older than what was changed in it.
 */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CopyPlus } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { reasonAgainst, useActive } from '../active.ts'
import { Dialog, DialogBody } from './dialog.tsx'
import { MenuItem } from './menu.tsx'
import { Asked } from './page.tsx'

/** As long as names may be. */
const LONGEST = 200

/** What a copy is called; the end of a long name gives way. */
export const nameOfCopy = (name: string): string =>
  `Copy of ${name}`
    .slice(0, LONGEST)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd()

type CloneItemProps = {
  id: string
  /** What saving the copy calls. */
  endpoint: Endpoint
  /** The page of the form, where that is not this one. */
  to?: '/campaigns/new' | '/click-flows' | undefined
}

/** The entry of a row's menu that opens the form. */
export function CloneItem({ id, endpoint, to }: CloneItemProps) {
  const navigate = useNavigate()
  const { role } = useActive()
  const open = () =>
    to === undefined
      ? navigate({ to: '.', search: ((before: object) => ({ ...before, clone: id })) as never })
      : navigate({ to, search: { clone: id } })
  return (
    <MenuItem icon={CopyPlus} reason={reasonAgainst(endpoint, role)} onSelect={() => void open()}>
      Clone
    </MenuItem>
  )
}

/** The original, read once for the form that begins with it: what is typed there is not lost to a newer one. */
export function useOriginal<T>(what: string, id: string, read: (id: string) => Promise<T>) {
  return useQuery({ queryKey: ['to clone', what, id], queryFn: () => read(id), staleTime: 'static', gcTime: 0 })
}

type NewDialogProps<T> = {
  /** What is made, as the title says it: "offer". */
  what: string
  width?: 'narrow' | 'wide'
  /** The id of what it begins as a copy of. */
  clone: string | undefined
  read: (id: string) => Promise<T>
  /** The original in the sentence "A copy of …". */
  nameOf: (original: T) => string
  open: boolean
  onClose: () => void
  /** The form, empty or filled from the original. */
  children: (original: T | undefined) => ReactNode
}

/** The dialog for a new one, empty or as a copy. */
export function NewDialog<T>(props: NewDialogProps<T>) {
  const { what, width = 'narrow', clone, open, onClose, children } = props
  if (clone !== undefined) return <CopyDialog key={clone} {...props} id={clone} />
  return (
    <Dialog open={open} onClose={onClose} title={`New ${what}`} width={width}>
      {children(undefined)}
    </Dialog>
  )
}

function CopyDialog<T>(props: NewDialogProps<T> & { id: string }) {
  const { id, what, width = 'narrow', read, nameOf, open, onClose, children } = props
  const original = useOriginal(what, id, read)
  return (
    <Dialog
      // Opens with its form, so that the first field of it is what has the focus.
      open={open && !original.isPending}
      onClose={onClose}
      title={`New ${what}`}
      description={original.data === undefined ? undefined : `A copy of ${nameOf(original.data)}.`}
      width={width}
    >
      {original.data === undefined ? (
        <DialogBody>
          <Asked query={original} what={what}>
            {children}
          </Asked>
        </DialogBody>
      ) : (
        children(original.data)
      )}
    </Dialog>
  )
}
