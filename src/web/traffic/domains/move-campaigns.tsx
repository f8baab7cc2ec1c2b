/** Offers to move the campaign links of a failing or flagged domain to another domain. */
import { useQuery } from '@tanstack/react-query'
import { listCampaigns, updateCampaign } from '../../../traffic/campaigns/api.ts'
import { listDomains, updateDomain } from '../../../traffic/domains/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { count } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { type DomainRow, SHOW_DOMAINS } from './state.tsx'

/** Shows nothing if the domain works, if no campaign link uses it, or if there is no other working domain. */
export function MoveCampaigns({ domain }: { domain: DomainRow }) {
  const { id, campaigns, flagged, status, is_default } = domain
  const { role } = useActive()
  const confirm = useConfirm()
  const others = useQuery(ask(listDomains, { query: { status: 'active' } })).data?.data ?? []
  const good = others.filter(one => one.id !== id && one.flagged === null)
  const other = good.find(one => one.certificate.state !== 'off') ?? good[0]
  const isTroubled = status === 'failing' || flagged !== null
  if (!isTroubled || other === undefined || (campaigns === 0 && !is_default)) return null
  const links =
    campaigns === 1 ? 'One campaign link uses' : `${campaigns === 0 ? 'No' : count(campaigns)} campaign links use`
  const move = () =>
    confirm({
      title: `Move campaign links to ${other.unicode_name}?`,
      words: `${links} ${other.unicode_name} afterwards${is_default ? ', which becomes the default domain' : ''}. Links in running ads do not change: replace them with the new ones.`,
      action: 'Move links',
      look: 'primary',
      deed: () => moveCampaigns(domain, other),
      refresh: SHOW_DOMAINS,
      news: `Campaign links use ${other.unicode_name}`,
    })
  return (
    <Note kind="warning">
      <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span>{`${links} it.`}</span>
        <Button size="sm" reason={reasonAgainst(updateDomain, role)} onClick={move}>
          {`Move links to ${other.unicode_name}`}
        </Button>
      </span>
    </Note>
  )
}

/** Changes the default domain first, then each campaign that names the old domain. */
async function moveCampaigns(from: DomainRow, to: DomainRow): Promise<void> {
  if (from.is_default) await call(updateDomain, { params: { id: to.id }, body: { is_default: true } })
  for (let cursor: string | undefined; ; ) {
    const page = await call(listCampaigns, { query: { domain_id: from.id, status: 'all', limit: 200, cursor } })
    for (const { id } of page.data) await call(updateCampaign, { params: { id }, body: { domain_id: to.id } })
    if (page.next_cursor === null) return
    cursor = page.next_cursor
  }
}
