/** The form fields of a spend account, with hints where to find each value. */
import { SUBS } from '../../../contract/fields.ts'
import { LEVELS } from '../../../money/spend-accounts/api.ts'
import { useCampaigns } from '../../ground/campaign-choice.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import type { SpendAccountFaults, SpendAccountForm } from './form-values.ts'

type FieldsProps = {
  typed: SpendAccountForm
  faults: SpendAccountFaults
  onChange: (changed: Partial<SpendAccountForm>) => void
}

const TOKEN_HINTS: Readonly<Record<SpendAccountForm['provider'], string>> = {
  meta: 'Business settings, System users: give one this ad account with “View performance”, then generate a token with ads_read. The token of a dataset in the Events Manager cannot read spend.',
  tiktok:
    'The long-term access token of your Marketing API app, which the advertiser has authorized for Reporting. The token of a pixel cannot read spend.',
}

export function NameField({ typed, faults, onChange }: FieldsProps) {
  return (
    <TextField
      label="Name"
      hint="Its name in Sluice."
      autoComplete="off"
      error={faults.name}
      value={typed.name}
      onChange={event => onChange({ name: event.target.value })}
    />
  )
}

export function TokenField({ typed, faults, onChange }: FieldsProps) {
  return (
    <TextField
      label="Access token"
      type="password"
      autoComplete="off"
      hint={TOKEN_HINTS[typed.provider]}
      error={faults.access_token}
      value={typed.access_token}
      onChange={event => onChange({ access_token: event.target.value })}
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
export function AssignmentFields(props: FieldsProps) {
  const { typed, onChange } = props
  return (
    <>
      <SelectField
        label="Assign spend to"
        value={typed.owner}
        onChange={event => onChange({ owner: event.target.value as SpendAccountForm['owner'] })}
      >
        <option value="clicks">Campaigns whose clicks carry the platform’s id</option>
        <option value="campaign">One campaign</option>
      </SelectField>
      {typed.owner === 'clicks' ? <IdFields {...props} /> : <CampaignField {...props} />}
    </>
  )
}

function IdFields({ typed, faults, onChange }: FieldsProps) {
  return (
    <>
      <div className="grid grid-cols-2 gap-4">
        <SelectField
          label="Match by"
          error={faults.level}
          value={typed.level}
          onChange={event => onChange({ level: event.target.value as SpendAccountForm['level'] })}
        >
          {LEVELS.map(level => (
            <option key={level} value={level}>
              {LEVEL_WORDS[typed.provider][level]}
            </option>
          ))}
        </SelectField>
        <SelectField
          label="Link parameter"
          error={faults.id_in}
          value={typed.id_in}
          onChange={event => onChange({ id_in: event.target.value })}
        >
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
          {typed.id_in}={MACROS[typed.provider][typed.level]}
        </code>
        .{' '}
        {typed.id_in === 'sub1'
          ? 'The report by sub1 then shows the cost of each id.'
          : 'Use sub1 if the report by sub1 should show the cost of each id.'}
      </p>
    </>
  )
}

function CampaignField({ typed, faults, onChange }: FieldsProps) {
  const campaigns = useCampaigns()
  const isKnown = typed.campaign_id === '' || campaigns.some(({ id }) => id === typed.campaign_id)
  return (
    <SelectField
      label="Campaign"
      error={faults.campaign_id === undefined ? undefined : 'Choose a campaign.'}
      value={typed.campaign_id}
      onChange={event => onChange({ campaign_id: event.target.value })}
    >
      <option value="" disabled>
        Choose a campaign
      </option>
      {!isKnown && <option value={typed.campaign_id}>{typed.campaign_id}</option>}
      {campaigns.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}
