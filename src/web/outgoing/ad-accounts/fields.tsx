/** The form fields of an ad account. What differs by platform is in platforms.ts. */
import { ACTION_SOURCES, CONSENTS, SEND_WHEN } from '../../../outgoing/ad-accounts/api.ts'
import { inWords } from '../../ground/rungs.ts'
import type { DraftFields } from '../../ground/ui/draft.ts'
import { Checkbox, SelectField, TextField } from '../../ground/ui/field.tsx'
import type { AdAccountForm } from './form-values.ts'
import { PLATFORM_FORMS } from './platforms.ts'

type FieldsProps = { form: DraftFields<AdAccountForm> }

export function CredentialField({ form }: FieldsProps) {
  const { label, hint } = PLATFORM_FORMS[form.watch('platform')].credential
  return (
    <TextField
      label={label}
      type="password"
      autoComplete="off"
      hint={hint}
      error={form.formState.errors.credential?.message}
      {...form.register('credential')}
    />
  )
}

export function SettingsFields({ form }: FieldsProps) {
  const { id, settings, canRestate } = PLATFORM_FORMS[form.watch('platform')]
  return (
    <>
      <TextField
        label={id.label}
        hint={id.hint}
        autoComplete="off"
        inputMode={id.isNumeric ? 'numeric' : 'text'}
        error={form.formState.errors.account?.message}
        {...form.register('account')}
      />
      {settings.includes('action_source') && <MetaFields form={form} />}
      {settings.includes('ad_user_data') && <GoogleFields form={form} />}
      {settings.includes('website_url') && <WebsiteFields form={form} />}
      <SelectField
        label="Send when"
        hint={
          form.watch('send_when') === 'approved'
            ? 'Held conversions are sent once approved, if the platform still accepts them: Meta and TikTok for 7 days, Google for 90.'
            : 'Sent at once, even while on hold.'
        }
        {...form.register('send_when')}
      >
        {SEND_WHEN.map(one => (
          <option key={one} value={one}>
            {one === 'recorded' ? 'A conversion is recorded' : 'A conversion is approved'}
          </option>
        ))}
      </SelectField>
      {canRestate && (
        <Checkbox
          label="Restate"
          words="If a smaller amount is approved later, reports it to Google for the same conversion. 0 is never reported, because Google could not correct it again."
          {...form.register('restate')}
        />
      )}
      <Checkbox
        label="Send contacts"
        words="Sends the email and phone in a conversion’s payload, hashed as the platform requires. Only with your visitors’ consent."
        {...form.register('sends_contact')}
      />
    </>
  )
}

function MetaFields({ form }: FieldsProps) {
  return (
    <>
      <Checkbox
        label="Use the payout as value"
        words="Otherwise the event map sets the value, and the payout is not sent to Meta."
        {...form.register('use_payout_as_value')}
      />
      <SelectField label="Where conversions happen" {...form.register('action_source')}>
        {ACTION_SOURCES.map(source => (
          <option key={source} value={source}>
            {source === 'automatic' ? 'Automatic: website, or chat for Telegram' : inWords(source)}
          </option>
        ))}
      </SelectField>
    </>
  )
}

function WebsiteFields({ form }: FieldsProps) {
  return (
    <>
      <TextField
        label="Website page"
        optional
        placeholder="https://"
        hint="Reported as the page where conversions happen. Blank = the address the campaign leads to."
        error={form.formState.errors.website_url?.message}
        {...form.register('website_url')}
      />
      <Checkbox
        label="Keep the visitor’s IP address"
        words="Improves the platform’s matching. Only for campaigns that name this account. Encrypted, and deleted after 7 days."
        {...form.register('keeps_ip')}
      />
    </>
  )
}

function GoogleFields({ form }: FieldsProps) {
  const consent = (field: 'ad_user_data' | 'ad_personalization', label: string) => (
    <SelectField label={label} {...form.register(field)}>
      {CONSENTS.map(one => (
        <option key={one} value={one}>
          {one === 'unspecified' ? 'Unspecified' : inWords(one)}
        </option>
      ))}
    </SelectField>
  )
  return (
    <>
      <TextField
        label="Manager account"
        optional
        hint="Its customer id, if the service account has access through a manager account."
        autoComplete="off"
        error={form.formState.errors.login_customer_id?.message}
        {...form.register('login_customer_id')}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        {consent('ad_user_data', 'Consent to the use of data')}
        {consent('ad_personalization', 'Consent to personal ads')}
      </div>
      <p className="text-sm text-ink-faint">
        State only what your visitors have agreed to. Without consent Google ignores people in the European Economic
        Area.
      </p>
    </>
  )
}
