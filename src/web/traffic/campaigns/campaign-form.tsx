/** The form of a campaign, for a new one and for a change. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { AD_PLATFORM_LABELS } from '../../../contract/ad-platforms.ts'
import { listAdAccounts } from '../../../outgoing/ad-accounts/api.ts'
import { SOURCE_FIELDS } from '../../../traffic/campaigns/api.ts'
import { previewOffer } from '../../../traffic/offers/api.ts'
import { ask, call } from '../../ground/call.ts'
import { noneIfBlank } from '../../ground/ui/draft.ts'
import { Checkbox, SelectField, TextField } from '../../ground/ui/field.tsx'
import { AddressPreview } from '../offers/address-preview.tsx'
import { CostFields } from './cost-fields.tsx'
import { DestinationFields } from './destination-fields.tsx'
import { DomainField } from './domain-field.tsx'
import type { CampaignValues } from './draft.ts'
import { GoalField } from './goal-field.tsx'
import { OfferField } from './offer-field.tsx'
import { PagesFields } from './pages-fields.tsx'
import { SourceField } from './source-field.tsx'

type Form = UseFormReturn<CampaignValues, unknown, CampaignValues>

export function CampaignFields({ form, isNew }: { form: Form; isNew: boolean }) {
  const errors = form.formState.errors
  const { type } = form.watch('destination')
  return (
    <>
      <TextField label="Name" autoComplete="off" error={errors.name?.message} {...form.register('name')} />
      {isNew && (
        <TextField
          label="Key"
          optional
          hint="The end of the campaign link: 3 to 64 of a-z, 0-9 and -. Blank = generated. It cannot be changed later."
          autoComplete="off"
          className="max-w-xs"
          error={errors.key?.message}
          {...form.register('key', noneIfBlank)}
        />
      )}
      <DestinationFields form={form}>{type !== 'funnel' && <OfferField form={form} />}</DestinationFields>
      <TextField
        label="Fallback"
        optional
        placeholder="https://"
        hint="Where visitors go while the campaign is paused or deleted, or when its destination is not available."
        error={errors.fallback_url?.message}
        {...form.register('fallback_url', noneIfBlank)}
      />
      <AddressPreview
        address={form.watch('fallback_url') ?? ''}
        preview={url => call(previewOffer, { body: { url } })}
      />
      <DomainField form={form} />
      <SourceField form={form} isNew={isNew} />
      <SourceFields form={form} />
      <CostFields form={form} />
      <GoalField form={form} />
      <PagesFields form={form} />
      <AdAccountField form={form} />
      <Checkbox
        label="Strict filter"
        words="Also excludes generic HTTP libraries from the counts. Their clicks are stored and shown as not counted."
        {...form.register('strict_filter')}
      />
    </>
  )
}

function AdAccountField({ form }: { form: Form }) {
  const accounts = useQuery(ask(listAdAccounts, { query: { limit: 200 } }))
  const chosen = form.watch('ad_account_id')
  const listed = accounts.data?.data ?? []
  return (
    <SelectField
      label="Ad account"
      optional
      hint="Conversions are reported to this account. “By click id”: to the account of the platform whose click id the click has."
      error={form.formState.errors.ad_account_id?.message}
      {...form.register('ad_account_id', noneIfBlank)}
      value={chosen ?? ''}
    >
      <option value="">By click id</option>
      {chosen != null && listed.every(account => account.id !== chosen) && <option value={chosen}>{chosen}</option>}
      {listed.map(({ id, name, platform, state }) => (
        <option key={id} value={id}>
          {`${name} (${AD_PLATFORM_LABELS[platform]}${state === 'active' ? '' : `, ${state}`})`}
        </option>
      ))}
    </SelectField>
  )
}

/** Collapsed, because most sources use our names or can be set to. An error opens it, and it stays open until the error is corrected. */
function SourceFields({ form }: { form: Form }) {
  const errors = form.formState.errors.source
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      className="rounded-md border border-line px-4 py-3"
      open={isOpen || errors !== undefined}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary className="font-medium">Names of incoming parameters</summary>
      <p className="mt-1 mb-3 text-ink-soft">
        If the traffic source uses its own parameter names, enter the name for each field.
      </p>
      <div className="grid gap-3 sm:grid-cols-2">
        {SOURCE_FIELDS.map(field => (
          <TextField
            key={field}
            label={field}
            placeholder={field}
            autoComplete="off"
            error={errors?.[field]?.message}
            {...form.register(`source.${field}`, noneIfBlank)}
          />
        ))}
      </div>
    </details>
  )
}
