/** The values of an ad account's forms, flat for all platforms, and the request fields made from them. */
import type { z } from 'zod'
import type { AdPlatform } from '../../../contract/ad-platforms.ts'
import type { AdAccount, AdAccountChanges, AdAccountDraft } from '../../../outgoing/ad-accounts/api.ts'
import { PLATFORM_FORMS, type SettingField } from './platforms.ts'

export type AdAccountRow = z.input<typeof AdAccount>
export type AdAccountRequest = z.input<typeof AdAccountDraft>
export type AdAccountPatch = z.input<typeof AdAccountChanges>

export type AdAccountForm = {
  platform: AdPlatform
  name: string
  /** Pixel id, pixel code or customer id. */
  account: string
  login_customer_id: string
  /** Access token or the JSON key of a service account. */
  credential: string
  website_url: string
  action_source: string
  ad_user_data: string
  ad_personalization: string
  use_payout_as_value: boolean
  keeps_ip: boolean
  sends_contact: boolean
  send_when: string
  restate: boolean
}

/** The form values of an existing account, or of a new one. The credential is never filled in. */
export function adAccountFormOf(account?: AdAccountRow): AdAccountForm {
  const blank: AdAccountForm = {
    platform: account?.platform ?? 'meta',
    name: account?.name ?? '',
    account: '',
    login_customer_id: '',
    credential: '',
    website_url: '',
    action_source: 'automatic',
    ad_user_data: 'unspecified',
    ad_personalization: 'unspecified',
    use_payout_as_value: false,
    keeps_ip: false,
    sends_contact: false,
    send_when: account?.send_when ?? 'recorded',
    restate: account?.restate ?? false,
  }
  if (account === undefined) return blank
  const { id, settings } = PLATFORM_FORMS[account.platform]
  const values: Readonly<Record<string, string | boolean | null>> = account.settings
  const filled = settings.map(name => [name, values[name] ?? '']) as [SettingField, string | boolean][]
  return { ...blank, ...Object.fromEntries(filled), account: String(values[id.field]) }
}

/** Optional settings: a blank field is sent as null. */
const NULLABLE: readonly SettingField[] = ['website_url', 'login_customer_id']

/** The settings as the platform's schema reads them. The schema finds the errors. */
export function settingsOf(form: AdAccountForm): object {
  const { id, settings } = PLATFORM_FORMS[form.platform]
  const valueOf = (name: SettingField) =>
    NULLABLE.includes(name) && String(form[name]).trim() === '' ? null : form[name]
  return { [id.field]: form.account, ...Object.fromEntries(settings.map(name => [name, valueOf(name)])) }
}

/** When conversions are reported to the account, and whether later changes are. In the request these fields are beside the settings. */
export const reportingOf = ({ platform, send_when, restate }: AdAccountForm): object =>
  PLATFORM_FORMS[platform].canRestate ? { send_when, restate } : { send_when }

export const credentialsOf = ({ platform, credential }: AdAccountForm): object => ({
  [PLATFORM_FORMS[platform].credential.field]: credential,
})

/** The form field of each request field that has another name. */
const RENAMED = new Map<string, keyof AdAccountForm>(
  Object.values(PLATFORM_FORMS).flatMap(({ id, credential }) => [
    [id.field, 'account'],
    [credential.field, 'credential'],
  ]),
)

/** The form field that shows an error at a path of the request. */
export function fieldOf(path: readonly PropertyKey[]): string {
  const name = String(path.at(-1))
  return RENAMED.get(name) ?? name
}
