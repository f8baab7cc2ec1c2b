/** What every member is told on each page while a domain that campaigns are shown on fails or is suspected, with the way out of it. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { z } from 'zod'
import { listCampaigns, readCampaign, readCampaignLink, updateCampaign } from '../../traffic/campaigns/api.ts'
import { type Domain, listDomains, readDomain, updateDomain } from '../../traffic/domains/api.ts'
import { reasonAgainst, useActive } from '../ground/active.ts'
import { ask, call } from '../ground/call.ts'
import { count } from '../ground/figures/figures.ts'
import { Button } from '../ground/ui/button.tsx'
import { useConfirm } from '../ground/ui/confirm.tsx'
import { Note } from '../ground/ui/refusal.tsx'

type DomainRow = z.input<typeof Domain>

/** A domain fails by itself, so the page asks again now and then. */
const AGAIN_MS = 60_000

export function DomainBanner() {
  const query = { trouble: 'true' } as const
  const troubled = useQuery({ ...ask(listDomains, { query }), refetchInterval: AGAIN_MS }).data?.data
  const domain = troubled?.find(({ campaigns, is_default }) => is_default || campaigns > 0)
  if (domain === undefined) return null
  return <Troubled domain={domain} />
}

function Troubled({ domain }: { domain: DomainRow }) {
  const { id, unicode_name, campaigns, flagged } = domain
  const { role } = useActive()
  const confirm = useConfirm()
  const others = useQuery(ask(listDomains, { query: { status: 'active' } })).data?.data ?? []
  const good = others.filter(one => one.id !== id && one.flagged === null)
  const other = good.find(one => one.certificate.state !== 'off') ?? good[0]
  const shown = campaigns === 1 ? 'One campaign is' : `${campaigns === 0 ? 'No' : count(campaigns)} campaigns are`
  const move = (to: DomainRow) =>
    confirm({
      title: `Show them on ${to.unicode_name}?`,
      words: `${shown} shown on ${to.unicode_name} from then on${domain.is_default ? ', which becomes the default domain' : ''}. Links that stand in ads stay what they are: put the new ones there.`,
      action: 'Show them there',
      look: 'primary',
      deed: () => moveCampaigns(domain, to),
      refresh: [listDomains, readDomain, listCampaigns, readCampaign, readCampaignLink],
      news: `Campaigns are shown on ${to.unicode_name}`,
    })
  return (
    <output className="mb-4 block">
      <Note kind="warning">
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span>
            <strong>
              {flagged === null
                ? `${unicode_name} does not lead here any more.`
                : `Google suspects ${unicode_name} of harm; it may be wrong.`}
            </strong>{' '}
            {`${shown} shown on it. `}
            <Link to="/settings/domains/$id" params={{ id }} className="underline underline-offset-2 hover:text-ink">
              What was found
            </Link>
          </span>
          {other !== undefined && (
            <Button size="sm" reason={reasonAgainst(updateDomain, role)} onClick={() => move(other)}>
              {`Show them on ${other.unicode_name}`}
            </Button>
          )}
        </span>
      </Note>
    </output>
  )
}

/** Those that name the domain one by one, and with the default the others. */
async function moveCampaigns(from: DomainRow, to: DomainRow): Promise<void> {
  if (from.is_default) await call(updateDomain, { params: { id: to.id }, body: { is_default: true } })
  for (let cursor: string | undefined; ; ) {
    const page = await call(listCampaigns, { query: { domain_id: from.id, status: 'all', limit: 200, cursor } })
    for (const { id } of page.data) await call(updateCampaign, { params: { id }, body: { domain_id: to.id } })
    if (page.next_cursor === null) return
    cursor = page.next_cursor
  }
}
