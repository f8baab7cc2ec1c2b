/**
 * Cloning: the form that creates an object, filled with another object's values. Its id is in the address, and nothing is saved until
 * the form is. The original is read again each time, because a list may be out of date.
 */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CopyPlus } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { reasonAgainst, useActive } from '../active.ts'
import { Dialog, DialogBody } from './dialog.tsx'
import { MenuItem } from './menu.tsx'
import { Loaded } from './page.tsx'

type CloneItemProps = {
  id: string
  /** The endpoint that saves the copy. */
  endpoint: Endpoint
  /** The page of the form, if it is another page. */
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

/** The original, read once for the form, so that a later read does not overwrite what was typed. */
export function useOriginal<T>(what: string, id: string, read: (id: string) => Promise<T>) {
  return useQuery({ queryKey: ['to clone', what, id], queryFn: () => read(id), staleTime: 'static', gcTime: 0 })
}

type NewDialogProps<T> = {
  /** What is created, such as "offer". */
  what: string
  width?: 'narrow' | 'wide'
  /** The id of the object to copy. */
  clone: string | undefined
  read: (id: string) => Promise<T>
  /** The original in the sentence "A copy of …". */
  nameOf: (original: T) => string
  open: boolean
  onClose: () => void
  /** The form; undefined for an empty one. */
  children: (original: T | undefined) => ReactNode
}

/** The dialog that creates an object, empty or as a copy. */
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
      // It opens once the form is there, so that the first field gets the focus.
      open={open && !original.isPending}
      onClose={onClose}
      title={`New ${what}`}
      description={original.data === undefined ? undefined : `A copy of ${nameOf(original.data)}.`}
      width={width}
    >
      {original.data === undefined ? (
        <DialogBody>
          <Loaded query={original} what={what}>
            {children}
          </Loaded>
        </DialogBody>
      ) : (
        children(original.data)
      )}
    </Dialog>
  )
}
