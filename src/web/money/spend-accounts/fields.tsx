/** The form fields of a spend account, with hints where to find each value. */
import { SUBS } from '../../../contract/fields.ts'
import { LEVELS } from '../../../money/spend-accounts/api.ts'
import { useCampaigns } from '../../ground/campaign-choice.tsx'
import type { DraftFields } from '../../ground/ui/draft.ts'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import type { SpendAccountForm } from './form-values.ts'

type FieldsProps = { form: DraftFields<SpendAccountForm> }

const TOKEN_HINTS: Readonly<Record<SpendAccountForm['provider'], string>> = {
  meta: 'Business settings, System users: give one this ad account with “View performance”, then generate a token with ads_read. The token of a dataset in the Events Manager cannot read spend.',
  tiktok:
    'The long-term access token of your Marketing API app, which the advertiser has authorized for Reporting. The token of a pixel cannot read spend.',
}

export function NameField({ form }: FieldsProps) {
  return (
    <TextField
      label="Name"
      hint="Its name in Sluice."
      autoComplete="off"
      error={form.formState.errors.name?.message}
      {...form.register('name')}
    />
  )
}

export function TokenField({ form }: FieldsProps) {
  return (
    <TextField
      label="Access token"
      type="password"
      autoComplete="off"
      hint={TOKEN_HINTS[form.watch('provider')]}
      error={form.formState.errors.access_token?.message}
      {...form.register('access_token')}
    />
  )
}

const LEVEL_WORDS: Readonly<Record<SpendAccountForm['provider'], Readonly<Record<SpendAccountForm['level'], string>>>> =
  {
    meta: { ad: 'Ad', adset: 'Ad set', campaign: 'Campaign at Meta' },
    tiktok: { ad: 'Ad', adset: 'Ad group', campaign: 'Campaign at TikTok' },
  }
/** The platform's macro for each level. */
const MACROS: Readonly<Record<SpendAccountForm['provider'], Readonly<Record<SpendAccountForm['level'], string>>>> = {
  meta: { ad: '{{ad.id}}', adset: '{{adset.id}}', campaign: '{{campaign.id}}' },
  tiktok: { ad: '__CID__', adset: '__AID__', campaign: '__CAMPAIGN_ID__' },
}

/** The campaigns the spend is assigned to. */
export function AssignmentFields({ form }: FieldsProps) {
  return (
    <>
      <SelectField label="Assign spend to" {...form.register('owner')}>
        <option value="clicks">Campaigns whose clicks carry the platform’s id</option>
        <option value="campaign">One campaign</option>
      </SelectField>
      {form.watch('owner') === 'clicks' ? <IdFields form={form} /> : <CampaignField form={form} />}
    </>
  )
}

function IdFields({ form }: FieldsProps) {
  const { level, id_in, provider } = form.watch()
  const { errors } = form.formState
  return (
    <>
      <div className="grid grid-cols-2 gap-4">
        <SelectField label="Match by" error={errors.level?.message} {...form.register('level')}>
          {LEVELS.map(one => (
            <option key={one} value={one}>
              {LEVEL_WORDS[provider][one]}
            </option>
          ))}
        </SelectField>
        <SelectField label="Link parameter" error={errors.id_in?.message} {...form.register('id_in')}>
          {SUBS.map(sub => (
            <option key={sub} value={sub}>
              {sub}
            </option>
          ))}
        </SelectField>
      </div>
      <p className="text-sm text-ink-faint">
        Your links must contain{' '}
        <code className="font-mono text-ink-soft">
          {id_in}={MACROS[provider][level]}
        </code>
        .{' '}
        {id_in === 'sub1'
          ? 'The report by sub1 then shows the cost of each id.'
          : 'Use sub1 if the report by sub1 should show the cost of each id.'}
      </p>
    </>
  )
}

function CampaignField({ form }: FieldsProps) {
  const campaigns = useCampaigns()
  const chosen = form.watch('campaign_id')
  const isKnown = chosen === '' || campaigns.some(({ id }) => id === chosen)
  return (
    <SelectField
      label="Campaign"
      error={form.formState.errors.campaign_id === undefined ? undefined : 'Choose a campaign.'}
      {...form.register('campaign_id')}
      value={chosen}
    >
      <option value="" disabled>
        Choose a campaign
      </option>
      {!isKnown && <option value={chosen}>{chosen}</option>}
      {campaigns.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}
