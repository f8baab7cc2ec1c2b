/** The values of an ad account's forms, flat for all platforms, and the request fields made from them. */
import type { z } from 'zod'
import type { AdPlatform } from '../../../contract/ad-platforms.ts'
import type { AdAccount, AdAccountChanges, AdAccountDraft } from '../../../outgoing/ad-accounts/api.ts'

export type AdAccountRow = z.input<typeof AdAccount>
export type AdAccountRequest = z.input<typeof AdAccountDraft>
export type AdAccountPatch = z.input<typeof AdAccountChanges>

export type AdAccountForm = {
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
  const blank = {
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
  if (account.platform === 'google') {
    const { customer_id, login_customer_id, ...rest } = account.settings
    return { ...blank, ...rest, account: customer_id, login_customer_id: login_customer_id ?? '' }
  }
  const { website_url, ...rest } = account.settings
  const id = 'pixel_id' in account.settings ? account.settings.pixel_id : account.settings.pixel_code
  return { ...blank, ...rest, account: id, website_url: website_url ?? '' }
}

const orNull = (text: string): string | null => (text.trim() === '' ? null : text)

/** The settings as the platform's schema reads them. The schema finds the errors. */
export function settingsOf(platform: AdPlatform, typed: AdAccountForm): object {
  const { account, keeps_ip, sends_contact, use_payout_as_value, action_source, ad_user_data, ad_personalization } =
    typed
  const website_url = orNull(typed.website_url)
  if (platform === 'google')
    return {
      customer_id: account,
      login_customer_id: orNull(typed.login_customer_id),
      ad_user_data,
      ad_personalization,
      sends_contact,
    }
  if (platform === 'tiktok') return { pixel_code: account, website_url, keeps_ip, sends_contact }
  return { pixel_id: account, website_url, keeps_ip, sends_contact, use_payout_as_value, action_source }
}

/** When the account is told of a conversion, and whether it is told of changes. These fields lie beside its settings. */
export const reportingOf = (platform: AdPlatform, { send_when, restate }: AdAccountForm): object =>
  platform === 'google' ? { send_when, restate } : { send_when }

export function credentialsOf(platform: AdPlatform, { credential }: AdAccountForm): object {
  return platform === 'google' ? { service_account: credential } : { access_token: credential }
}

/** The form field of each field in the schema that has another name. */
const FIELD_OF: Readonly<Record<string, keyof AdAccountForm>> = {
  pixel_id: 'account',
  pixel_code: 'account',
  customer_id: 'account',
  access_token: 'credential',
  service_account: 'credential',
}

export type AdAccountFaults = Partial<Record<keyof AdAccountForm, string>>

/** The first error of each field. */
export function adAccountFaultsOf({ issues }: z.ZodError): AdAccountFaults {
  const faults: AdAccountFaults = {}
  for (const { path, message } of issues) {
    const name = String(path.at(-1))
    const field = FIELD_OF[name] ?? (name as keyof AdAccountForm)
    faults[field] ??= message
  }
  return faults
}
