/** Settings, Workspace: its name, time zone, reporting currency, second factor and deletion. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import type { z } from 'zod'
import {
  deleteOrganization,
  listOrganizations,
  OrganizationDraft,
  setReportingCurrency,
  updateOrganization,
} from '../../../people/organizations/api.ts'
import { onlyFor, reasonAgainst, useActive, type Workspace } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { day } from '../../ground/figures/figures.ts'
import { CurrencyField } from '../../ground/original.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { noneIfBlank, submits, useDraft } from '../../ground/ui/draft.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { PageHeader, Setting } from '../../ground/ui/page.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { notify } from '../../ground/ui/toast.tsx'
import { FactorForEveryone } from './factor-for-everyone.tsx'
import { ZoneForm } from '../../ground/zone-form.tsx'
import { useUnsaved } from '../../ground/ui/unsaved.ts'

export function WorkspacePage() {
  const active = useActive()
  const refresh = useRefresh()
  const reason = active.role === 'owner' ? undefined : onlyFor('owner', active.role)
  return (
    <>
      <PageHeader title="Workspace" words={`Created ${day(active.created_at)}. The API calls it an organization.`} />
      <Setting title="Name" words="Shown to your team in the workspace menu.">
        <NameForm key={active.id} workspace={active} reason={reason} />
      </Setting>
      <Setting
        title="Time zone"
        words="Used in the dashboard by everyone who has not chosen their own. Reads by API key stay in UTC."
      >
        <ZoneForm
          key={`${active.id} ${active.timezone}`}
          zone={active.timezone}
          reason={reason}
          save={async timezone => {
            await call(updateOrganization, { params: { id: active.id }, body: { timezone: timezone ?? 'UTC' } })
            await refresh(listOrganizations)
          }}
        />
      </Setting>
      <Setting
        title="Reporting currency"
        words="The overview shows daily amounts in this currency, each day at its own rate. Billing, the API, lists and exports stay in US dollars."
      >
        <CurrencyForm key={active.id} workspace={active} />
      </Setting>
      <Setting
        title="Second factor"
        words="Require an app or a passkey besides the password. API keys are not affected."
      >
        <FactorForEveryone key={active.id} workspace={active} />
      </Setting>
      <Setting title="Id" words="The organization_id in a key’s grant.">
        <div className="flex items-center gap-3">
          <code className="font-mono text-sm">{active.id}</code>
          <CopyButton text={active.id} label="Copy id" />
        </div>
      </Setting>
      <Setting
        title="Delete"
        danger
        words="Calls with its API keys are then refused (409 org_deleted). Its data is kept: an owner can restore it at any time."
      >
        <DeleteButton workspace={active} reason={reason} />
      </Setting>
    </>
  )
}

function NameForm({ workspace, reason }: { workspace: Workspace; reason: string | undefined }) {
  const refresh = useRefresh()
  const form = useDraft(OrganizationDraft, { name: workspace.name })
  useUnsaved(form.formState.isDirty, 'the name')
  const rename = useMutation({
    mutationFn: (body: z.input<typeof OrganizationDraft>) =>
      call(updateOrganization, { params: { id: workspace.id }, body }),
    onSuccess: async saved => {
      await refresh(listOrganizations)
      form.reset({ name: saved.name })
      notify('The workspace is renamed')
    },
  })
  return (
    <PartForm
      className="max-w-md"
      action="Save name"
      onSubmit={submits(form, draft => rename.mutate(draft))}
      save={rename}
      reason={reason}
    >
      <TextField label="Name" hideLabel error={form.formState.errors.name?.message} {...form.register('name')} />
    </PartForm>
  )
}

type ReportingDraft = z.input<typeof setReportingCurrency.body>

function CurrencyForm({ workspace }: { workspace: Workspace }) {
  const refresh = useRefresh()
  const form = useDraft<ReportingDraft>(setReportingCurrency.body, { currency: workspace.reporting_currency ?? 'USD' })
  useUnsaved(form.formState.isDirty, 'the reporting currency')
  const reason = reasonAgainst(setReportingCurrency, workspace.role)
  const save = useMutation({
    mutationFn: (body: ReportingDraft) => call(setReportingCurrency, { body }),
    onSuccess: async ({ reporting_currency }) => {
      await refresh(listOrganizations)
      form.reset({ currency: reporting_currency ?? 'USD' })
      notify(`Daily amounts are now shown in ${reporting_currency ?? 'USD'}`)
    },
  })
  return (
    <PartForm
      className="max-w-md"
      action="Save currency"
      onSubmit={submits(form, draft => save.mutate(draft))}
      save={save}
      reason={reason}
    >
      <CurrencyField
        label="Reporting currency"
        hideLabel
        placeholder="USD"
        error={form.formState.errors.currency?.message}
        {...form.register('currency', noneIfBlank)}
      />
    </PartForm>
  )
}

function DeleteButton({ workspace, reason }: { workspace: Workspace; reason: string | undefined }) {
  const queries = useQueryClient()
  const confirm = useConfirm()
  return (
    <Button
      look="danger"
      icon={Trash2}
      reason={reason}
      onClick={() =>
        confirm({
          title: `Delete ${workspace.name}?`,
          words:
            'Integrations stop at once: conversions sent while it is deleted are refused and not stored. You can restore the workspace later.',
          typed: 'DELETE',
          action: 'Delete workspace',
          deed: async () => {
            await call(deleteOrganization, { params: { id: workspace.id } })
            await queries.resetQueries()
          },
        })
      }
    >
      Delete workspace
    </Button>
  )
}
