/** Deleting a domain: its name is typed, because links that stand in ads end with it. */
import { Trash2 } from 'lucide-react'
import { deleteDomain } from '../../../traffic/domains/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { count } from '../../ground/figures/figures.ts'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { MenuItem } from '../../ground/ui/menu.tsx'
import { type DomainRow, SHOW_DOMAINS } from './state.tsx'

/** Asks, then deletes; `onDone` goes where the domain is not any more. */
export function useDeleteDomain(domain: DomainRow, onDone?: () => void): () => void {
  const confirm = useConfirm()
  const { id, name, unicode_name, campaigns } = domain
  const shown =
    campaigns === 0
      ? 'No campaign is shown on it.'
      : `${campaigns === 1 ? 'One campaign is' : `${count(campaigns)} campaigns are`} shown on it, and on the default domain or the main address from then on.`
  return () =>
    confirm({
      title: `Delete ${unicode_name}?`,
      words: (
        <>
          Its links end at once, also those in ads that run. {shown} No other workspace gets the name without a TXT
          record.
        </>
      ),
      typed: name,
      action: 'Delete domain',
      deed: async () => {
        await call(deleteDomain, { params: { id } })
        onDone?.()
      },
      refresh: SHOW_DOMAINS,
      news: `${unicode_name} is deleted`,
    })
}

export function DeleteDomainItem({ domain }: { domain: DomainRow }) {
  const { role } = useActive()
  const ask = useDeleteDomain(domain)
  return (
    <MenuItem icon={Trash2} danger reason={reasonAgainst(deleteDomain, role)} onSelect={ask}>
      Delete
    </MenuItem>
  )
}
