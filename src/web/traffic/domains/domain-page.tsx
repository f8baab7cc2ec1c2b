/** One domain: its DNS records and the last check, its certificate, and its settings. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
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
import { ObjectHistory } from '../../ground/history/object-history.tsx'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { Checkbox, SelectField } from '../../ground/ui/field.tsx'
import { Loaded, PageHeader, Setting } from '../../ground/ui/page.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { useChanges } from '../../ground/ui/unsaved.ts'
import { useDeleteDomain } from './delete.tsx'
import { MoveCampaigns } from './move-campaigns.tsx'
import { DomainPlaceFields } from './place-fields.tsx'
import { RecordsTable } from './records.tsx'
import { CertificateBadge, type DomainRow, FlaggedBadge, PointingBadge, SHOW_DOMAINS } from './state.tsx'

type Changes = z.input<typeof DomainChanges>

const route = getRouteApi('/inside/settings/domains/$id')

const REFETCH_MS = 5000

export function DomainPage() {
  const { id } = route.useParams()
  const domain = useQuery({
    ...ask(readDomain, { params: { id } }),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? REFETCH_MS : false),
  })
  return (
    <>
      <BackLink to="/settings/domains">Domains</BackLink>
      <Loaded query={domain} title="Domain">
        {found => <DomainDetail key={found.id} domain={found} />}
      </Loaded>
      <ObjectHistory kind="domain" id={id} />
    </>
  )
}

function DomainDetail({ domain }: { domain: DomainRow }) {
  const { unicode_name, name, created_at, last_visit_at, is_default } = domain
  const visited = last_visit_at === null ? 'No visits yet.' : `Last visit ${ago(last_visit_at)}.`
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
      <Setting wide title="DNS" words="Records for your DNS provider. A change takes minutes, sometimes hours.">
        <div className="flex flex-col gap-4">
          <RecordsTable domain={domain} />
          <WebRiskNote domain={domain} />
          <MoveCampaigns domain={domain} />
          <CheckResult domain={domain} />
        </div>
      </Setting>
      <Setting title="HTTPS certificate" words="The certificate that visitors of this domain see.">
        <CertificateCard domain={domain} />
      </Setting>
      <DomainSettings domain={domain} />
      <Setting title="Delete" danger words="Its links stop working at once, also in running ads.">
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

function CheckResult({ domain: { check, status } }: { domain: DomainRow }) {
  if (check === null)
    return (
      <p aria-live="polite" className="text-ink-soft">
        The first check is running.
      </p>
    )
  const { problems, checked_at, next_at, addresses } = check
  const next =
    next_at === null
      ? 'There is no further automatic check.'
      : status === 'pending'
        ? 'It is checked again automatically.'
        : `Next check ${moment(next_at)}.`
  return (
    <div aria-live="polite" className="flex flex-col gap-2">
      {problems.map(({ code, text, cure }) => (
        <Note key={code} kind="warning">
          <strong>{text}</strong> {cure}
        </Note>
      ))}
      {check.arrived && problems.length === 0 && (
        <Note>
          <strong>Requests for this name reach Sluice.</strong>
        </Note>
      )}
      <p className="text-sm text-ink-faint">
        {`Checked ${ago(checked_at)}${addresses.length === 0 ? '' : ` at ${addresses.join(', ')}`}. ${next}`}
      </p>
    </div>
  )
}

function WebRiskNote({ domain: { flagged } }: { domain: DomainRow }) {
  if (flagged === null) return null
  return (
    <Note kind="warning">
      <strong>{`Google Web Risk lists this name for ${flagged.threats.join(', ').toLowerCase().replaceAll('_', ' ')} since ${day(flagged.since)}.`}</strong>{' '}
      Browsers may warn visitors. The entry may be wrong or outdated: ask Google for a review, and use another domain
      for your campaigns meanwhile.
    </Note>
  )
}

/** What a problem means for visitors, by the state of the certificate. */
const PROBLEM_WORDS = {
  external: 'Browsers refuse it',
  active: 'It is in use, but could not be renewed',
  failing: 'It could not be ordered',
  ordering: 'It could not be ordered, and is tried again',
  waiting: 'It could not be ordered',
  limited: 'The last order failed',
} as const

function CertificateCard({ domain: { certificate, status } }: { domain: DomainRow }) {
  const { state, issuer, not_after, renews_at, problem, next_try_at } = certificate
  if (state === 'off')
    return (
      <p className="text-ink-soft">
        {status === 'pending'
          ? 'It is ordered once the name leads here.'
          : 'This name has no https, so its links use http. A proxy in front of Sluice can order a certificate for it.'}
      </p>
    )
  const lines = [
    issuer === null ? undefined : `Issued by ${issuer}.`,
    not_after === null ? undefined : `Valid until ${moment(not_after)}.`,
    renews_at === null ? undefined : `Renews ${moment(renews_at)}.`,
    state === 'limited'
      ? `This workspace has reached the limit of ${MOST_NEW_A_DAY} new certificates a day. Links work over http meanwhile.`
      : undefined,
    next_try_at === null ? undefined : `${state === 'limited' ? 'It is ordered' : 'Next try'} ${moment(next_try_at)}.`,
    state === 'external' ? 'The server in front of Sluice serves and renews it.' : undefined,
    state === 'waiting' || state === 'ordering' ? 'It is being ordered. Links work over http meanwhile.' : undefined,
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
  optional: 'HTTP and HTTPS',
  only: 'HTTPS only: HTTP redirects to HTTPS',
} as const
const ROBOTS_WORDS = { refuse: 'Keep out', allow: 'Allow' } as const
const SCANNERS =
  'Every request for an unknown path counts as a click. New certificates are public within minutes, and scanners then visit the name.'

function DomainSettings({ domain }: { domain: DomainRow }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const { changes, now, set, clear } = useChanges<DomainRow, Changes>(domain, 'the domain')
  const save = useMutation({
    mutationFn: () => call(updateDomain, { params: { id: domain.id }, body: changes }),
    onSuccess: async () => {
      await refresh(...SHOW_DOMAINS)
      clear()
      notify('The domain is saved', 'Applies from the next visit.')
    },
  })
  const isServed = domain.status === 'active' || domain.status === 'failing'
  const campaignWords =
    domain.campaigns === 0
      ? 'No campaign link uses it.'
      : domain.campaigns === 1
        ? 'One campaign link uses it.'
        : `${count(domain.campaigns)} campaign links use it.`
  return (
    <Setting title="Settings" words="Campaign links always work, at /c/key and at /key.">
      <PartForm
        action="Save domain"
        onSubmit={() => save.mutate()}
        save={save}
        reason={reasonAgainst(updateDomain, role)}
      >
        <Checkbox
          label="Default domain"
          words={`Links of campaigns without their own domain use it. ${campaignWords}`}
          reason={isServed ? undefined : 'The name must lead here first.'}
          checked={now.is_default}
          onChange={event => set({ is_default: event.target.checked })}
        />
        <SelectField
          label="HTTPS"
          hint="Until there is a certificate, links work over HTTP in any case."
          value={now.https}
          onChange={event => set({ https: HTTPS_MODES.find(mode => mode === event.target.value) ?? 'optional' })}
        >
          {HTTPS_MODES.map(mode => (
            <option key={mode} value={mode}>
              {HTTPS_WORDS[mode]}
            </option>
          ))}
        </SelectField>
        <DomainPlaceFields label="At /" place={now.root} onChange={root => set({ root })} />
        <DomainPlaceFields
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
