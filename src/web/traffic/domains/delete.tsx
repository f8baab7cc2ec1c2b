/** Deletes a domain. Its name must be typed, because links in running ads stop working. */
import { Trash2 } from 'lucide-react'
import { deleteDomain } from '../../../traffic/domains/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { count } from '../../ground/figures/figures.ts'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { MenuItem } from '../../ground/ui/menu.tsx'
import { type DomainRow, SHOW_DOMAINS } from './state.tsx'

/** Asks for confirmation, then deletes. `onDone` leaves a page that no longer exists. */
export function useDeleteDomain(domain: DomainRow, onDone?: () => void): () => void {
  const confirm = useConfirm()
  const { id, name, unicode_name, campaigns } = domain
  const campaignWords =
    campaigns === 0
      ? 'No campaign link uses it.'
      : `The ${campaigns === 1 ? 'link of one campaign moves' : `links of ${count(campaigns)} campaigns move`} to the default domain or the main address.`
  return () =>
    confirm({
      title: `Delete ${unicode_name}?`,
      words: (
        <>
          Its links stop working at once, also in running ads. {campaignWords} Another workspace needs a TXT record to
          add the name.
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
