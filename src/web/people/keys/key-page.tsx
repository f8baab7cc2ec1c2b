/** One key: its state, its permissions, and curl commands for the calls it may make. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Ban, CalendarClock, CirclePause, CirclePlay, Eraser, KeyRound, SlidersHorizontal } from 'lucide-react'
import { useState } from 'react'
import { RIGHTS, TIERS } from '../../../contract/rights.ts'
import { undoKey } from '../../../people/history/api.ts'
import { listKeys, readGrant } from '../../../people/keys/api.ts'
import { reasonAgainst, useActive, useOrganizations } from '../../ground/active.ts'
import { ask } from '../../ground/call.ts'
import { ago, moment } from '../../ground/figures/figures.ts'
import { ChangesBy, ObjectHistory } from '../../ground/history/object-history.tsx'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { CodeBlock } from '../../ground/ui/copy.tsx'
import { Loaded, EmptyState, PageHeader, Section } from '../../ground/ui/page.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { abilitiesOf } from './abilities.ts'
import { ExpiryDialog, useKeyDeeds } from './deeds.tsx'
import { type HeldGrant, heldRights } from './grant-choice.ts'
import { GrantDialog } from './grant-dialog.tsx'
import { TIER_WORDS } from './rights-fieldset.tsx'
import {
  type KeyRow,
  meaningOfState,
  meaningOfPermissions,
  PermissionBadge,
  reasonNotMine,
  KeyStateBadge,
} from './states.tsx'
import { UndoButton } from './undo-dialog.tsx'

const route = getRouteApi('/inside/settings/api-keys/$id')

export function KeyPage() {
  const { id } = route.useParams()
  const keys = useQuery(ask(listKeys))
  const { role } = useActive()
  return (
    <Loaded query={keys} title="API key">
      {({ data }) => {
        const key = data.find(one => one.id === id)
        return key === undefined ? (
          <>
            <PageHeader title="API key" />
            <EmptyState
              icon={KeyRound}
              title="Key not found"
              words="It may act in another workspace, or belong to someone else."
            >
              <Link to="/settings/api-keys" className={buttonLook('plain')}>
                To the list of keys
              </Link>
            </EmptyState>
          </>
        ) : (
          <>
            <KeyDetail apiKey={key} />
            <ChangesBy actor={id}>
              <UndoButton apiKey={key} reason={reasonAgainst(undoKey, role)} />
            </ChangesBy>
            <ObjectHistory kind="api_key" id={id} />
          </>
        )
      }}
    </Loaded>
  )
}

function KeyDetail({ apiKey }: { apiKey: KeyRow }) {
  const navigate = useNavigate()
  const { grant: editing = false } = route.useSearch()
  const grant = useQuery(ask(readGrant, { params: { id: apiKey.id } }))
  const deeds = useKeyDeeds(apiKey)
  const reason = reasonNotMine(apiKey)
  const edit = (open: boolean) => void navigate({ to: '.', search: open ? { grant: true } : {}, replace: true })
  return (
    <>
      <BackLink to="/settings/api-keys">API keys</BackLink>
      <PageHeader title={apiKey.name} words={meaningOfState(apiKey.state)}>
        <LifeButtons apiKey={apiKey} />
      </PageHeader>
      <Facts apiKey={apiKey} />
      <Section
        title="Permissions"
        words={meaningOfPermissions(apiKey.permission_state)}
        aside={
          <div className="flex flex-wrap gap-2">
            <Button look="danger-quiet" icon={Eraser} reason={reason} onClick={deeds.emptyPermissions}>
              Revoke all permissions
            </Button>
            <Button look="primary" icon={SlidersHorizontal} reason={reason} onClick={() => edit(true)}>
              Edit permissions
            </Button>
          </div>
        }
      >
        <Loaded query={grant}>{held => <Permissions held={held} apiKey={apiKey} />}</Loaded>
      </Section>
      {grant.data !== undefined && apiKey.state !== 'revoked' && apiKey.kind === 'key' && (
        <Commands apiKey={apiKey} held={grant.data} />
      )}
      {reason === undefined && <GrantDialog apiKey={apiKey} open={editing} onClose={() => edit(false)} />}
    </>
  )
}

function LifeButtons({ apiKey }: { apiKey: KeyRow }) {
  const deeds = useKeyDeeds(apiKey)
  const reason = reasonNotMine(apiKey)
  const [expiry, setExpiry] = useState(false)
  if (apiKey.state === 'revoked') return null
  return (
    <>
      {apiKey.state === 'disabled' ? (
        <Button icon={CirclePlay} reason={reason} onClick={deeds.enable}>
          Enable
        </Button>
      ) : (
        <Button icon={CirclePause} reason={reason} onClick={deeds.disable}>
          Disable
        </Button>
      )}
      <Button icon={CalendarClock} reason={reason} onClick={() => setExpiry(true)}>
        Expiry
      </Button>
      <Button look="danger" icon={Ban} onClick={deeds.revoke}>
        Revoke key
      </Button>
      <ExpiryDialog apiKey={apiKey} open={expiry} onClose={() => setExpiry(false)} />
    </>
  )
}

function Facts({ apiKey }: { apiKey: KeyRow }) {
  const facts: [string, React.ReactNode][] = [
    ['State', <KeyStateBadge key="state" state={apiKey.state} />],
    ['Permissions', <PermissionBadge key="permissions" state={apiKey.permission_state} />],
    ['Workspace', apiKey.organization?.name ?? 'None'],
    apiKey.kind === 'connection'
      ? ['Connected by OAuth', apiKey.host_domain ?? 'A host with an unverified name']
      : ['Begins with', <code key="first" className="font-mono text-sm">{`${apiKey.first_characters}…`}</code>],
    ['Created', moment(apiKey.created_at)],
    ['Last used', apiKey.last_used_at === null ? 'Never' : ago(apiKey.last_used_at)],
    ['Expires', apiKey.expires_at === null ? 'Never' : moment(apiKey.expires_at)],
    ['Owner', apiKey.is_yours ? 'You' : `${apiKey.owner.name} (${apiKey.owner.email})`],
  ]
  return (
    <dl className="mb-8 grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-4">
      {facts.map(([name, value]) => (
        <div key={name} className="bg-surface px-3 py-2">
          <dt className="text-sm text-ink-faint">{name}</dt>
          <dd className="truncate">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Permissions({ held, apiKey }: { held: HeldGrant; apiKey: KeyRow }) {
  return (
    <div className="grid gap-px overflow-hidden rounded-lg border border-line bg-line md:grid-cols-3">
      {TIERS.map(tier => {
        const rights = [...heldRights(held)].filter(right => RIGHTS[right].tier === tier)
        return (
          <div key={tier} className="bg-surface p-3">
            <h3 className="mb-1.5">{TIER_WORDS[tier].title}</h3>
            {rights.length === 0 ? (
              <p className="text-ink-faint">
                {held.state === 'fresh' && tier === 'write'
                  ? 'Only POST /api/events: a key whose permissions were never saved may still report conversions.'
                  : 'None.'}
              </p>
            ) : (
              <ul className="flex flex-col gap-1.5">
                {rights.map(right => (
                  <li key={right}>
                    <span className="font-mono text-sm">{right}</span>
                    <span className="block text-sm text-ink-faint">{RIGHTS[right].means}</span>
                  </li>
                ))}
              </ul>
            )}
          </div>
        )
      })}
      <div className="bg-surface p-3 md:col-span-3">
        <h3 className="mb-1">Campaigns</h3>
        {held.campaigns === null ? (
          <p className="text-ink-soft">Every campaign of {held.organization?.name ?? 'the workspace'}.</p>
        ) : (
          <p className="text-ink-soft">
            Only{' '}
            {held.campaigns
              .map(campaign => (campaign.deleted ? `${campaign.name} (deleted)` : campaign.name))
              .join(', ')}
            .
          </p>
        )}
      </div>
      <AskFirst apiKey={apiKey} />
    </div>
  )
}

function AskFirst({ apiKey }: { apiKey: KeyRow }) {
  const deeds = useKeyDeeds(apiKey)
  const { ask_first, state } = apiKey
  return (
    <div className="flex items-start justify-between gap-3 bg-surface p-3 md:col-span-3">
      <div>
        <h3 className="mb-1">Ask first</h3>
        <p className="text-ink-soft">
          {ask_first
            ? 'On: a destructive tool call is refused until the AI host has tried it and shown what would happen. HTTP calls with this key do not ask.'
            : 'Off: tool calls of AI hosts take effect at once.'}
        </p>
      </div>
      {state !== 'revoked' && (
        <Button size="sm" reason={reasonNotMine(apiKey)} onClick={ask_first ? deeds.askNoMore : deeds.askFirst}>
          {ask_first ? 'Turn off' : 'Turn on'}
        </Button>
      )}
    </div>
  )
}

function Commands({ apiKey, held }: { apiKey: KeyRow; held: HeldGrant }) {
  const workspace = useOrganizations().find(one => one.id === held.organization?.id)
  const rights = held.state === 'fresh' ? (['events'] as const) : [...heldRights(held)]
  const abilities = abilitiesOf(rights, location.origin)
  return (
    <Section
      title="What this key can do"
      words="Commands for a shell. Put the secret into the variable first, and replace the values in angle brackets."
    >
      <div className="flex flex-col gap-3">
        {apiKey.is_yours && workspace?.role === 'member' && (
          <Note kind="warning">
            You are a member of {workspace.name}, not its owner or admin:{' '}
            <strong>every call with this key answers 403 role_forbidden</strong> until that changes.
          </Note>
        )}
        {rights.length === 0 ? (
          <p className="text-ink-soft">Nothing. Every call answers 403 and names the right to grant.</p>
        ) : (
          <>
            <CodeBlock label="The key" text={`export SLUICE_KEY='${apiKey.first_characters}…'`} />
            {abilities.map(({ right, summary, curl }) => (
              <CodeBlock key={summary} label={`${summary} · ${right}`} text={curl} />
            ))}
          </>
        )}
      </div>
    </Section>
  )
}
