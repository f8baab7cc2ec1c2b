/** The consent page, to which an AI host sends a person: who asks, where they will be sent, and the grant editor. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { z } from 'zod'
import { type Right, TIERS } from '../../../contract/rights.ts'
import { createConnection, readConnectionRequest } from '../../../people/connections/api.ts'
import { useActive, useOrganizations } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Checkbox, SelectField } from '../../ground/ui/field.tsx'
import { PageHeader, Waiting } from '../../ground/ui/page.tsx'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { CampaignPicker } from '../keys/campaign-picker.tsx'
import {
  difference,
  GRANT_PRESETS,
  type GrantChoice,
  grantDraftOf,
  type HeldGrant,
  obstacle,
} from '../keys/grant-choice.ts'
import { RightsFieldset } from '../keys/rights-fieldset.tsx'
import { TypedDelete } from '../keys/typed-delete.tsx'

const route = getRouteApi('/inside/connect')

type ConnectionRequest = z.input<(typeof readConnectionRequest)['query']>
type Asking = z.input<(typeof readConnectionRequest)['reply']>

export function ConsentPage() {
  const request = requestIn(route.useSearch().request)
  const asking = useQuery({ ...ask(readConnectionRequest, { query: request }), retry: false })
  if (asking.data !== undefined) return <Consent request={request} asking={asking.data} />
  return (
    <>
      <PageHeader title="Connect an AI host" />
      {asking.error === null ? <Waiting className="h-72" /> : <RefusalNote refused={asking.error} />}
    </>
  )
}

/** The request that the authorization endpoint has packed. Anything else becomes an empty request, which the server refuses. */
function requestIn(packed: string): ConnectionRequest {
  let query = ''
  try {
    query = atob(packed.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    // Not packed by Sluice: nobody asks anything.
  }
  const sent = Object.fromEntries(new URLSearchParams(query))
  return { ...sent, client_id: sent['client_id'] ?? '', redirect_uri: sent['redirect_uri'] ?? '' }
}

/** Nothing is held yet, so every ticked right of the delete tier must be confirmed. */
const NOTHING_HELD: HeldGrant = {
  state: 'fresh',
  organization: null,
  read: [],
  write: [],
  delete: [],
  campaigns: null,
  saved_at: null,
}

const DAY_MS = 86_400_000
const TERMS = [
  { days: 1, words: 'One day' },
  { days: 30, words: '30 days' },
  { days: 90, words: '90 days' },
  { days: 0, words: 'Until it is revoked' },
] as const

function Consent({ request, asking }: { request: ConnectionRequest; asking: Asking }) {
  const active = useActive().id
  const workspaces = useOrganizations().filter(one => one.role !== 'member' && one.deleted_at === null)
  const [choice, setChoice] = useState<GrantChoice>({
    organization_id: workspaces.some(one => one.id === active) ? active : '',
    rights: new Set(GRANT_PRESETS.find(({ name }) => name === 'Read only')?.rights),
    campaigns: undefined,
  })
  const [typed, setTyped] = useState('')
  const [days, setDays] = useState<number>(90)
  const [asksFirst, setAsksFirst] = useState(false)
  const change = difference(NOTHING_HELD, choice)
  const connect = useMutation({
    mutationFn: () =>
      call(createConnection, {
        body: {
          request,
          grant: grantDraftOf(choice, typed),
          expires_at: days === 0 ? null : new Date(Date.now() + days * DAY_MS).toISOString(),
          ask_first: asksFirst,
        },
      }),
    // The address holds a code, so it must not stay in the cache of mutations.
    gcTime: 0,
    onSuccess: ({ redirect }) => window.location.assign(redirect),
  })
  const tick = (rights: readonly Right[], on: boolean) => {
    const next = new Set(choice.rights)
    for (const right of rights) {
      if (on) next.add(right)
      else next.delete(right)
    }
    setChoice({ ...choice, rights: next })
  }
  return (
    <>
      <PageHeader
        title={`Connect ${asking.host_name}`}
        words="It will call the tools of Sluice for you, with the rights that you tick here and no others."
      />
      <form
        className="flex max-w-3xl flex-col gap-5"
        onSubmit={event => {
          event.preventDefault()
          if (obstacle(choice, change, typed) === undefined && !connect.isPending) connect.mutate()
        }}
      >
        <WhoAsks asking={asking} />
        <SelectField
          label="Workspace"
          required
          hint="The connection works only in this workspace, and only while you are its owner or admin."
          value={choice.organization_id}
          onChange={event => setChoice({ ...choice, organization_id: event.target.value, campaigns: undefined })}
        >
          <option value="" disabled>
            Choose a workspace
          </option>
          {workspaces.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
        <CampaignPicker
          chosen={choice.campaigns}
          onChoose={campaigns => setChoice({ ...choice, campaigns })}
          reason={
            choice.organization_id === active
              ? undefined
              : 'You can search campaigns only in the active workspace: switch to the chosen one first.'
          }
        />
        <fieldset aria-label="Presets" className="flex flex-wrap items-center gap-1.5">
          <span className="mr-1 text-sm text-ink-faint">Start from</span>
          {GRANT_PRESETS.map(({ name, rights }) => (
            <Button key={name} size="sm" onClick={() => setChoice({ ...choice, rights: new Set(rights) })}>
              {name}
            </Button>
          ))}
        </fieldset>
        {TIERS.map(tier => (
          <RightsFieldset key={tier} tier={tier} choice={choice} onTick={tick} />
        ))}
        <SelectField label="How long" value={days} onChange={event => setDays(Number(event.target.value))}>
          {TERMS.map(term => (
            <option key={term.days} value={term.days}>
              {term.words}
            </option>
          ))}
        </SelectField>
        <Checkbox
          label="Ask first"
          words="A call that changes live traffic, deletes or sends data out is refused until the host has tried it and shown what would happen."
          checked={asksFirst}
          onChange={event => setAsksFirst(event.target.checked)}
        />
        {change.addedDeletes.length > 0 && <TypedDelete rights={change.addedDeletes} typed={typed} onType={setTyped} />}
        <RefusalNote refused={connect.error} />
        <div className="flex flex-wrap gap-2">
          <Button
            type="submit"
            look="primary"
            pending={connect.isPending || connect.isSuccess}
            reason={obstacle(choice, change, typed)}
          >
            Connect
          </Button>
          <Button onClick={() => window.location.assign(asking.denied)}>Cancel</Button>
        </div>
      </form>
    </>
  )
}

function WhoAsks({ asking: { host_name, host_domain, redirect_host, is_local } }: { asking: Asking }) {
  return (
    <>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1 rounded-md border border-line px-4 py-3">
        <dt className="text-ink-faint">Name</dt>
        <dd className="min-w-0 break-words">{host_name}</dd>
        <dt className="text-ink-faint">Verified domain</dt>
        <dd className="min-w-0 break-words">{host_domain ?? 'None'}</dd>
        <dt className="text-ink-faint">You will be sent to</dt>
        <dd className="min-w-0 font-mono text-sm break-words">{redirect_host}</dd>
      </dl>
      {(host_domain === null || is_local) && (
        <Note kind="warning">
          {host_domain === null
            ? 'The host chose its name itself: nobody has verified it.'
            : 'The domain is verified, but any program on this computer can use the name of this host.'}{' '}
          Connect it only if you have just begun this in a program that you trust{is_local ? ' on this computer' : ''}.
        </Note>
      )}
    </>
  )
}
