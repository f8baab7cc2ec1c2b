/** Badges for the state of a domain and its certificate. */
import type { z } from 'zod'
import { DAY_MS } from '../../../contract/days.ts'
import { type Domain, listDomains, readDomain } from '../../../traffic/domains/api.ts'
import { listCampaigns, readCampaign, readCampaignLink } from '../../../traffic/campaigns/api.ts'
import { readTestLink } from '../../../intake/clicks/api.ts'
import { day } from '../../ground/figures/figures.ts'
import { useNow } from '../../ground/figures/now.ts'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'

export type DomainRow = z.input<typeof Domain>

/** The queries that show a domain, or a link that uses it. */
export const SHOW_DOMAINS = [listDomains, readDomain, listCampaigns, readCampaign, readCampaignLink, readTestLink]

const POINTING: Record<DomainRow['status'], [tone: Tone, words: string]> = {
  pending: ['plain', 'Pending'],
  active: ['good', 'Leads here'],
  failing: ['bad', 'Does not lead here'],
  lost: ['bad', 'Taken by another workspace'],
}

/** What an unproven domain waits for. */
function pendingWords(check: DomainRow['check']): string {
  const codes = check?.problems.map(({ code }) => code) ?? []
  if (check?.arrived === true) return 'Waiting for TXT'
  return codes.length === 0 || codes.includes('no_such_name') ? 'Waiting for DNS' : 'Leads elsewhere'
}

export function PointingBadge({ domain: { status, check } }: { domain: DomainRow }) {
  const [tone, usual] = POINTING[status]
  const words = status === 'pending' ? pendingWords(check) : usual
  const first = check?.problems[0]
  // A problem that affects some visitors is shown before it becomes a failure.
  if (status === 'active' && first !== undefined)
    return (
      <Badge tone="warn" title={first.text}>
        Leads here, with a problem
      </Badge>
    )
  return (
    <Badge tone={tone} {...(first === undefined ? {} : { title: first.text })}>
      {words}
    </Badge>
  )
}

const SOON_DAYS = 14

/** Names Google as the source, because its list may be wrong. */
export function FlaggedBadge({ domain: { flagged } }: { domain: DomainRow }) {
  if (flagged === null) return null
  return (
    <Badge tone="bad" title={`${flagged.threats.join(', ')}, since ${day(flagged.since)}`}>
      Flagged by Google
    </Badge>
  )
}

export function CertificateBadge({ domain: { certificate, status } }: { domain: DomainRow }) {
  const now = useNow()
  // Nothing is known about the certificate of a name that leads elsewhere.
  if (status === 'pending') return null
  const { state, not_after, problem } = certificate
  if (state === 'off') return <Badge title="This name has no https">No https</Badge>
  if (problem !== null && state === 'active')
    return (
      <Badge tone="warn" title={problem}>
        Renewal fails
      </Badge>
    )
  if (state === 'limited')
    return <Badge title="The limit of new certificates a day is reached">Certificate waits</Badge>
  if (problem !== null)
    return (
      <Badge tone="bad" title={problem}>
        Certificate fails
      </Badge>
    )
  if (state === 'waiting' || state === 'ordering') return <Badge>Certificate ordered</Badge>
  const days = not_after === null ? undefined : Math.floor((Date.parse(not_after) - now) / DAY_MS)
  if (not_after !== null && days !== undefined && days < SOON_DAYS)
    return (
      <Badge tone="warn" title={`Until ${day(not_after)}`}>
        {days < 0 ? 'https expired' : `https, ${days} ${days === 1 ? 'day' : 'days'} left`}
      </Badge>
    )
  return (
    <Badge tone="good" {...(not_after === null ? {} : { title: `Until ${day(not_after)}` })}>
      https
    </Badge>
  )
}
