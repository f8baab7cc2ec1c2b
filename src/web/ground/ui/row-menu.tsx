/** The menu of a row, and the items that many rows share. */
import { Archive, ArchiveRestore, Ellipsis, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { reasonAgainst, useActive } from '../active.ts'
import { IconButton } from './button.tsx'
import { useConfirm } from './confirm.tsx'
import { Menu, MenuItem } from './menu.tsx'

export function RowMenu({ name, children }: { name: string; children: ReactNode }) {
  return <Menu trigger={<IconButton icon={Ellipsis} label={`Actions for ${name}`} size="sm" />}>{children}</Menu>
}

type ItemProps = {
  name: string
  endpoint: Endpoint
  /** The endpoints that show the row. They are read again after the deed. */
  refresh: readonly Endpoint[]
}

type ArchiveItemProps = ItemProps & {
  status: 'active' | 'archived'
  /** The consequences of archiving. */
  words: string
  /** The consequences of unarchiving. */
  wordsBack: string
  deed: (status: 'active' | 'archived') => Promise<unknown>
}

/** Archives an active row, and makes an archived one active again. */
export function ArchiveItem({ name, endpoint, refresh, status, words, wordsBack, deed }: ArchiveItemProps) {
  const confirm = useConfirm()
  const { role } = useActive()
  const isActive = status === 'active'
  const action = isActive ? 'Archive' : 'Unarchive'
  const ask = () =>
    confirm({
      title: `${action} ${name}?`,
      words: isActive ? words : wordsBack,
      action,
      look: 'primary',
      deed: () => deed(isActive ? 'archived' : 'active'),
      refresh,
      news: `${name} is ${isActive ? 'archived' : 'active again'}`,
    })
  return (
    <MenuItem icon={isActive ? Archive : ArchiveRestore} reason={reasonAgainst(endpoint, role)} onSelect={ask}>
      {action}
    </MenuItem>
  )
}

type DeleteItemProps = ItemProps & {
  /** The word for the row, such as "offer". */
  what: string
  /** The consequences of deleting; a function if they must be loaded first. */
  words: string | (() => Promise<string>)
  /** Why it cannot be deleted yet. */
  before?: string | undefined
  deed: () => Promise<unknown>
}

export function DeleteItem({ name, endpoint, refresh, what, words, before, deed }: DeleteItemProps) {
  const confirm = useConfirm()
  const { role } = useActive()
  const ask = async () =>
    confirm({
      title: `Delete ${name}?`,
      words: typeof words === 'string' ? words : await words(),
      action: `Delete ${what}`,
      deed,
      refresh,
      news: `${name} is deleted`,
    })
  return (
    <MenuItem icon={Trash2} danger reason={reasonAgainst(endpoint, role) ?? before} onSelect={() => void ask()}>
      Delete
    </MenuItem>
  )
}
