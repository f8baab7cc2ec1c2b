/** The form fields of an ad account. What differs by platform is in platforms.ts. */
import type { AdPlatform } from '../../../contract/ad-platforms.ts'
import { ACTION_SOURCES, CONSENTS, SEND_WHEN } from '../../../outgoing/ad-accounts/api.ts'
import { inWords } from '../../ground/rungs.ts'
import { Checkbox, SelectField, TextField } from '../../ground/ui/field.tsx'
import type { AdAccountFaults, AdAccountForm } from './form-values.ts'
import { PLATFORM_FORMS } from './platforms.ts'

type FieldsProps = {
  platform: AdPlatform
  typed: AdAccountForm
  faults: AdAccountFaults
  onChange: (changed: Partial<AdAccountForm>) => void
}

export function CredentialField({ platform, typed, faults, onChange }: FieldsProps) {
  const { label, hint } = PLATFORM_FORMS[platform].credential
  return (
    <TextField
      label={label}
      type="password"
      autoComplete="off"
      hint={hint}
      error={faults.credential}
      value={typed.credential}
      onChange={event => onChange({ credential: event.target.value })}
    />
  )
}

export function SettingsFields(props: FieldsProps) {
  const { platform, typed, faults, onChange } = props
  const { id, settings, canRestate } = PLATFORM_FORMS[platform]
  return (
    <>
      <TextField
        label={id.label}
        hint={id.hint}
        autoComplete="off"
        inputMode={id.isNumeric ? 'numeric' : 'text'}
        error={faults.account}
        value={typed.account}
        onChange={event => onChange({ account: event.target.value })}
      />
      {settings.includes('action_source') && <MetaFields {...props} />}
      {settings.includes('ad_user_data') && <GoogleFields {...props} />}
      {settings.includes('website_url') && <WebsiteFields {...props} />}
      <SelectField
        label="Send when"
        hint={
          typed.send_when === 'approved'
            ? 'Held conversions are sent once approved, if the platform still accepts them: Meta and TikTok for 7 days, Google for 90.'
            : 'Sent at once, even while on hold.'
        }
        value={typed.send_when}
        onChange={event => onChange({ send_when: event.target.value })}
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
          words="Reports a smaller amount that is approved later to Google for the same conversion. Never 0, because Google could not correct it again."
          checked={typed.restate}
          onChange={event => onChange({ restate: event.target.checked })}
        />
      )}
      <Checkbox
        label="Send contacts"
        words="Sends the email and phone in a conversion’s payload, hashed as the platform requires. Only with your visitors’ consent."
        checked={typed.sends_contact}
        onChange={event => onChange({ sends_contact: event.target.checked })}
      />
    </>
  )
}

function MetaFields({ typed, onChange }: FieldsProps) {
  return (
    <>
      <Checkbox
        label="Use the payout as value"
        words="Otherwise the event map sets the value, and the payout is not sent to Meta."
        checked={typed.use_payout_as_value}
        onChange={event => onChange({ use_payout_as_value: event.target.checked })}
      />
      <SelectField
        label="Where conversions happen"
        value={typed.action_source}
        onChange={event => onChange({ action_source: event.target.value })}
      >
        {ACTION_SOURCES.map(source => (
          <option key={source} value={source}>
            {source === 'automatic' ? 'Automatic: website, or chat for Telegram' : inWords(source)}
          </option>
        ))}
      </SelectField>
    </>
  )
}

function WebsiteFields({ typed, faults, onChange }: FieldsProps) {
  return (
    <>
      <TextField
        label="Website page"
        optional
        placeholder="https://"
        hint="Reported as the page where conversions happen. Blank = the address the campaign leads to."
        error={faults.website_url}
        value={typed.website_url}
        onChange={event => onChange({ website_url: event.target.value })}
      />
      <Checkbox
        label="Keep the visitor’s IP address"
        words="Improves the platform’s matching. Only for campaigns that name this account. Encrypted, and deleted after 7 days."
        checked={typed.keeps_ip}
        onChange={event => onChange({ keeps_ip: event.target.checked })}
      />
    </>
  )
}

function GoogleFields({ typed, faults, onChange }: FieldsProps) {
  const consent = (field: 'ad_user_data' | 'ad_personalization', label: string) => (
    <SelectField label={label} value={typed[field]} onChange={event => onChange({ [field]: event.target.value })}>
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
        error={faults.login_customer_id}
        value={typed.login_customer_id}
        onChange={event => onChange({ login_customer_id: event.target.value })}
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
