/** One ad account: its state, its event map, a test event, and its connection. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { AD_PLATFORM_LABELS } from '../../../contract/ad-platforms.ts'
import {
  AdAccountChanges,
  deleteAdAccount,
  listAdAccounts,
  readAdAccount,
  updateAdAccount,
} from '../../../outgoing/ad-accounts/api.ts'
import { testAdAccount } from '../../../outgoing/platform-answers/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { moment } from '../../ground/figures/figures.ts'
import { ObjectHistory } from '../../ground/history/object-history.tsx'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { submits, useRequestDraft } from '../../ground/ui/draft.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { Loaded, PageHeader, Setting } from '../../ground/ui/page.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { useUnsaved } from '../../ground/ui/unsaved.ts'
import { EventMapForm } from './event-map-form.tsx'
import { CredentialField, SettingsFields } from './fields.tsx'
import { AdAccountBadge } from './state.tsx'
import { TestEventForm } from './test-event-form.tsx'
import {
  adAccountFormOf,
  type AdAccountPatch,
  type AdAccountRow,
  credentialsOf,
  fieldOf,
  reportingOf,
  settingsOf,
} from './form-values.ts'

const route = getRouteApi('/inside/ad-accounts/$id')

export function AdAccountPage() {
  const { id } = route.useParams()
  const account = useQuery(ask(readAdAccount, { params: { id } }))
  return (
    <>
      <BackLink to="/ad-accounts">Ad accounts</BackLink>
      <Loaded query={account} title="Ad account">
        {found => <AccountDetail key={found.id} account={found} />}
      </Loaded>
      <ObjectHistory kind="ad_account" id={id} />
    </>
  )
}

function useSave(id: string) {
  const refresh = useRefresh()
  return useMutation({
    mutationFn: (body: AdAccountPatch) => call(updateAdAccount, { params: { id }, body }),
    gcTime: 0,
    onSuccess: async saved => {
      await refresh(listAdAccounts, readAdAccount)
      notify(`${saved.name} is saved`, 'Applies from the next conversion.')
    },
  })
}

function AccountDetail({ account }: { account: AdAccountRow }) {
  const { role } = useActive()
  const reason = reasonAgainst(updateAdAccount, role)
  return (
    <>
      <PageHeader
        title={account.name}
        words={`${AD_PLATFORM_LABELS[account.platform]}, since ${moment(account.created_at)}.`}
      >
        <Link to="/deliveries" search={{ target: account.id }} className={buttonLook('plain')}>
          Deliveries
        </Link>
      </PageHeader>
      <Setting title="State" words="While an account is broken, its conversions wait.">
        <StatePart account={account} reason={reason} />
      </Setting>
      <Setting wide title="Events" words="The platform’s name for each conversion. Blank = not sent.">
        <EventMapForm account={account} reason={reason} save={useSave(account.id)} />
      </Setting>
      <Setting title="Test event" words="Sent immediately. It records nothing in Sluice and leaves the state as it is.">
        <TestEventForm account={account} reason={reasonAgainst(testAdAccount, role)} />
      </Setting>
      <Setting title="Connection" words="The credential is stored encrypted. Leave it blank to keep it.">
        <ConnectionForm account={account} reason={reason} />
      </Setting>
      <Setting title="Disconnect" danger words="Its credential is deleted, and its waiting deliveries are skipped.">
        <DisconnectPart account={account} />
      </Setting>
    </>
  )
}

type PartProps = { account: AdAccountRow; reason: string | undefined }

function StatePart({ account, reason }: PartProps) {
  const { platform, state, state_reason, state_changed_at } = account
  const save = useSave(account.id)
  const set = (next: 'active' | 'off') => save.mutate({ platform, state: next })
  return (
    <div className="flex flex-col items-start gap-3">
      <p className="flex flex-wrap items-center gap-2">
        <AdAccountBadge state={state} />
        <span className="text-ink-soft">since {moment(state_changed_at)}</span>
      </p>
      {state === 'broken' && (
        <Note kind="warning">
          <strong>The platform refuses this account.</strong> {state_reason} Enter a new credential below. Waiting
          conversions are then sent, unless they are too old.
        </Note>
      )}
      <RefusalNote refused={save.error} />
      <div className="flex gap-2">
        {state !== 'active' && (
          <Button reason={reason} pending={save.isPending} onClick={() => set('active')}>
            {state === 'broken' ? 'Try again' : 'Switch on'}
          </Button>
        )}
        {state !== 'off' && (
          <Button reason={reason} pending={save.isPending} onClick={() => set('off')}>
            Switch off
          </Button>
        )}
      </div>
    </div>
  )
}

function ConnectionForm({ account, reason }: PartProps) {
  const save = useSave(account.id)
  const form = useRequestDraft({
    schema: AdAccountChanges,
    values: adAccountFormOf(account),
    fieldOf,
    requestOf: typed => {
      const { platform, name, credential } = typed
      const credentials = credential === '' ? {} : { credentials: credentialsOf(typed) }
      return { platform, name, settings: settingsOf(typed), ...reportingOf(typed), ...credentials } as AdAccountPatch
    },
  })
  useUnsaved(form.formState.isDirty, 'the connection')
  return (
    <PartForm
      action="Save connection"
      onSubmit={submits(form, body => save.mutate(body, { onSuccess: saved => form.reset(adAccountFormOf(saved)) }))}
      save={save}
      reason={reason}
    >
      <TextField
        label="Name"
        autoComplete="off"
        error={form.formState.errors.name?.message}
        {...form.register('name')}
      />
      <p className="text-ink-soft">
        Current credential: <code className="font-mono text-sm">{account.credential_hint}</code>
      </p>
      <CredentialField form={form} />
      <SettingsFields form={form} />
    </PartForm>
  )
}

function DisconnectPart({ account }: { account: AdAccountRow }) {
  const refresh = useRefresh()
  const navigate = useNavigate()
  const confirm = useConfirm()
  const { role } = useActive()
  const ask = () =>
    confirm({
      title: `Disconnect ${account.name}?`,
      words:
        'Its credential is deleted and its waiting deliveries are skipped. Campaigns that use it must be switched to another account first.',
      action: 'Disconnect',
      deed: async () => {
        await call(deleteAdAccount, { params: { id: account.id } })
        await navigate({ to: '/ad-accounts' })
        await refresh(listAdAccounts)
        notify(`${account.name} is disconnected`)
      },
    })
  return (
    <Button look="danger" reason={reasonAgainst(deleteAdAccount, role)} onClick={ask}>
      Disconnect account
    </Button>
  )
}
