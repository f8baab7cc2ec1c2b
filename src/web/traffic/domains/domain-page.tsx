/** One domain: what to set in DNS and what was found there, its certificate, and what it answers. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { ChevronLeft } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import {
  checkDomain,
  deleteDomain,
  type DomainChanges,
  HTTPS_MODES,
  readDomain,
  ROBOTS,
  updateDomain,
} from '../../../traffic/domains/api.ts'
import { MOST_NEW_A_DAY } from '../../../traffic/certificates/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { ago, count, day, moment } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Checkbox, SelectField } from '../../ground/ui/field.tsx'
import { Asked, PageHeader, Setting } from '../../ground/ui/page.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { isChanged, useUnsaved } from '../../ground/ui/unsaved.ts'
import { useDeleteDomain } from './delete.tsx'
import { PlaceFields } from './place-fields.tsx'
import { RecordsTable } from './records.tsx'
import { CertificateBadge, type DomainRow, FlaggedBadge, PointingBadge, SHOW_DOMAINS } from './state.tsx'

type Changes = z.input<typeof DomainChanges>

const route = getRouteApi('/inside/settings/domains/$id')

const AGAIN_MS = 5000

export function DomainPage() {
  const { id } = route.useParams()
  const domain = useQuery({
    ...ask(readDomain, { params: { id } }),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? AGAIN_MS : false),
  })
  return (
    <>
      <Link to="/settings/domains" className="mb-2 inline-flex items-center gap-1 text-ink-soft hover:text-ink">
        <ChevronLeft aria-hidden className="size-3.5" />
        Domains
      </Link>
      <Asked query={domain} title="Domain">
        {found => <DomainDetail key={found.id} domain={found} />}
      </Asked>
    </>
  )
}

function DomainDetail({ domain }: { domain: DomainRow }) {
  const { unicode_name, name, created_at, last_visit_at, is_default } = domain
  const visited = last_visit_at === null ? 'Nobody has come by it yet.' : `Last visit ${ago(last_visit_at)}.`
  return (
    <>
      <PageHeader
        title={unicode_name}
        words={
          <span className="flex flex-wrap items-center gap-2">
            <PointingBadge domain={domain} />
            <CertificateBadge domain={domain} />
            <FlaggedBadge domain={domain} />
            {name !== unicode_name && <code className="font-mono text-sm">{name}</code>}
            {is_default && 'Default.'} {`Added ${day(created_at)}. ${visited}`}
          </span>
        }
      >
        <CheckButton domain={domain} />
      </PageHeader>
      <Setting
        wide
        title="DNS"
        words="What to set at whoever keeps the DNS of the name. A change takes minutes, at times hours."
      >
        <div className="flex flex-col gap-4">
          <RecordsTable domain={domain} />
          <Suspicion domain={domain} />
          <Findings domain={domain} />
        </div>
      </Setting>
      <Setting title="Certificate" words="Of https for this name.">
        <CertificateCard domain={domain} />
      </Setting>
      <Answers domain={domain} />
      <Setting title="Delete" danger words="Its links end at once, also those in ads that run.">
        <DeleteButton domain={domain} />
      </Setting>
    </>
  )
}

function CheckButton({ domain: { id } }: { domain: DomainRow }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const check = useMutation({
    mutationFn: () => call(checkDomain, { params: { id } }),
    onSuccess: () => refresh(...SHOW_DOMAINS),
  })
  return (
    <>
      <RefusalNote refused={check.error} />
      <Button pending={check.isPending} reason={reasonAgainst(checkDomain, role)} onClick={() => check.mutate()}>
        Check now
      </Button>
    </>
  )
}

function Findings({ domain: { check, status } }: { domain: DomainRow }) {
  if (check === null)
    return (
      <p aria-live="polite" className="text-ink-soft">
        The first check is under way.
      </p>
    )
  const { problems, checked_at, next_at, addresses } = check
  const next =
    next_at === null
      ? 'It is not checked again by itself.'
      : status === 'pending'
        ? 'It is checked again by itself.'
        : `Next ${moment(next_at)}.`
  return (
    <div aria-live="polite" className="flex flex-col gap-2">
      {problems.map(({ code, text, cure }) => (
        <Note key={code} kind="warning">
          <strong>{text}</strong> {cure}
        </Note>
      ))}
      {check.arrived && problems.length === 0 && (
        <Note>
          <strong>Requests for this name come here.</strong>
        </Note>
      )}
      <p className="text-sm text-ink-faint">
        {`Checked ${ago(checked_at)}${addresses.length === 0 ? '' : ` at ${addresses.join(', ')}`}. ${next}`}
      </p>
    </div>
  )
}

function Suspicion({ domain: { flagged } }: { domain: DomainRow }) {
  if (flagged === null) return null
  return (
    <Note kind="warning">
      <strong>{`Google Web Risk suspects this name of ${flagged.threats.join(', ').toLowerCase().replaceAll('_', ' ')}, since ${day(flagged.since)}.`}</strong>{' '}
      Browsers may warn of it. It may be wrong, or over already: ask Google for a review, and show campaigns on another
      domain meanwhile.
    </Note>
  )
}

/** What a problem means for visitors, by whose certificate it is and whether it is in service. */
const PROBLEM_WORDS = {
  external: 'Browsers refuse it',
  active: 'It is in service, and could not be renewed',
  failing: 'It could not be had',
  ordering: 'It could not be had, and is tried again',
  waiting: 'It could not be had',
  limited: 'The last try failed',
} as const

function CertificateCard({ domain: { certificate, status } }: { domain: DomainRow }) {
  const { state, issuer, not_after, renews_at, problem, next_try_at } = certificate
  if (state === 'off')
    return (
      <p className="text-ink-soft">
        {status === 'pending'
          ? 'Nothing is known of it before the name leads here.'
          : 'Nothing answers by https for this name, so its links are shown with http. A proxy in front can order a certificate for it by itself.'}
      </p>
    )
  const lines = [
    issuer === null ? undefined : `Issued by ${issuer}.`,
    not_after === null ? undefined : `Good until ${moment(not_after)}.`,
    renews_at === null ? undefined : `Renewed ${moment(renews_at)}.`,
    state === 'limited'
      ? `This workspace has ordered ${MOST_NEW_A_DAY} certificates for new names within a day, which is the limit. http opens links meanwhile.`
      : undefined,
    next_try_at === null ? undefined : `${state === 'limited' ? 'Ordered' : 'Tried again'} ${moment(next_try_at)}.`,
    state === 'external' ? 'It is served, and renewed, by the server in front.' : undefined,
    state === 'waiting' || state === 'ordering' ? 'It is being ordered. http opens links meanwhile.' : undefined,
  ]
  return (
    <div className="flex flex-col gap-2">
      {problem !== null && (
        <Note kind="warning">
          <strong>{PROBLEM_WORDS[state]}:</strong> {problem.replace(/\.$/, '')}.
        </Note>
      )}
      <p>{lines.filter(line => line !== undefined).join(' ')}</p>
    </div>
  )
}

const HTTPS_WORDS = {
  optional: 'http and https both open links',
  only: 'https alone: http leads over to it',
} as const
const ROBOTS_WORDS = { refuse: 'Keep them out', allow: 'Let them in' } as const
const SCANNERS =
  'A click is recorded for whoever tries a path. A new certificate is public within minutes, and scanners follow it.'

function Answers({ domain }: { domain: DomainRow }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const [changes, setChanges] = useState<Changes>({})
  const now = { ...domain, ...changes } as DomainRow
  useUnsaved(isChanged(now, domain), 'the domain')
  const set = (more: Changes) => setChanges(before => ({ ...before, ...more }))
  const save = useMutation({
    mutationFn: () => call(updateDomain, { params: { id: domain.id }, body: changes }),
    onSuccess: async () => {
      await refresh(...SHOW_DOMAINS)
      setChanges({})
      notify('The domain is saved', 'It holds for the next visitor.')
    },
  })
  const isServed = domain.status === 'active' || domain.status === 'failing'
  const shown =
    domain.campaigns === 0
      ? 'No campaign is shown on it.'
      : domain.campaigns === 1
        ? 'One campaign is shown on it.'
        : `${count(domain.campaigns)} campaigns are shown on it.`
  return (
    <Setting title="What it answers" words="Beside the links of your campaigns, which open at /c/key and at /key.">
      <PartForm
        action="Save domain"
        onSubmit={() => save.mutate()}
        save={save}
        reason={reasonAgainst(updateDomain, role)}
      >
        <Checkbox
          label="Default domain"
          words={`Campaigns that name no other are shown on it. ${shown}`}
          reason={isServed ? undefined : 'It can be once it leads here.'}
          checked={now.is_default}
          onChange={event => set({ is_default: event.target.checked })}
        />
        <SelectField
          label="https"
          hint="Before a certificate is in service, http opens links in any case."
          value={now.https}
          onChange={event => set({ https: HTTPS_MODES.find(mode => mode === event.target.value) ?? 'optional' })}
        >
          {HTTPS_MODES.map(mode => (
            <option key={mode} value={mode}>
              {HTTPS_WORDS[mode]}
            </option>
          ))}
        </SelectField>
        <PlaceFields label="At /" place={now.root} onChange={root => set({ root })} />
        <PlaceFields
          label="At unknown paths"
          place={now.unknown_path}
          onChange={unknown_path => set({ unknown_path })}
          warning={SCANNERS}
        />
        <SelectField
          label="Search engines"
          value={now.robots}
          onChange={event => set({ robots: ROBOTS.find(one => one === event.target.value) ?? 'refuse' })}
        >
          {ROBOTS.map(one => (
            <option key={one} value={one}>
              {ROBOTS_WORDS[one]}
            </option>
          ))}
        </SelectField>
      </PartForm>
    </Setting>
  )
}

function DeleteButton({ domain }: { domain: DomainRow }) {
  const { role } = useActive()
  const navigate = useNavigate()
  const ask = useDeleteDomain(domain, () => void navigate({ to: '/settings/domains' }))
  return (
    <Button look="danger-quiet" reason={reasonAgainst(deleteDomain, role)} onClick={ask}>
      Delete domain
    </Button>
  )
}
