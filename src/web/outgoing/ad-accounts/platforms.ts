/** What the forms of ad accounts show for each platform: one entry per platform, with hints where to find each value. */
import type { AdPlatform } from '../../../contract/ad-platforms.ts'

/** The settings that the forms know, besides the account's id. */
export type SettingField =
  | 'login_customer_id'
  | 'website_url'
  | 'action_source'
  | 'ad_user_data'
  | 'ad_personalization'
  | 'use_payout_as_value'
  | 'keeps_ip'
  | 'sends_contact'

type PlatformForm = {
  /** The account's id: its field in the settings, and how it is asked for. */
  readonly id: { readonly field: string; readonly label: string; readonly hint: string; readonly isNumeric: boolean }
  readonly credential: { readonly field: string; readonly label: string; readonly hint: string }
  readonly settings: readonly SettingField[]
  /** The column of the event map with the platform's name for an event. */
  readonly eventLabel: string
  readonly hasCustomData: boolean
  readonly canRestate: boolean
  readonly needsTestCode: boolean
  /** What to do after connecting. */
  readonly nextStep?: string
}

export const PLATFORM_FORMS: Readonly<Record<AdPlatform, PlatformForm>> = {
  meta: {
    id: {
      field: 'pixel_id',
      label: 'Dataset or pixel id',
      hint: 'Events Manager, your dataset, Settings: the number at the top.',
      isNumeric: true,
    },
    credential: {
      field: 'access_token',
      label: 'Access token',
      hint: 'Events Manager, your dataset, Settings, Conversions API: Generate access token. Stored encrypted and never shown again.',
    },
    settings: ['use_payout_as_value', 'action_source', 'website_url', 'keeps_ip', 'sends_contact'],
    eventLabel: 'Sent as',
    hasCustomData: true,
    canRestate: false,
    needsTestCode: true,
  },
  tiktok: {
    id: {
      field: 'pixel_code',
      label: 'Pixel code',
      hint: 'Events Manager, your web pixel: the code under its name.',
      isNumeric: false,
    },
    credential: {
      field: 'access_token',
      label: 'Access token',
      hint: 'Events Manager, your pixel, Settings, Events API: Generate access token. Stored encrypted and never shown again.',
    },
    settings: ['website_url', 'keeps_ip', 'sends_contact'],
    eventLabel: 'Sent as',
    hasCustomData: false,
    canRestate: false,
    needsTestCode: true,
  },
  google: {
    id: {
      field: 'customer_id',
      label: 'Customer id',
      hint: 'The ten digits at the top of Google Ads, of the account that owns the conversion actions.',
      isNumeric: true,
    },
    credential: {
      field: 'service_account',
      label: 'Service account key',
      hint: 'In a Google Cloud project with the Data Manager API enabled, create a service account and a JSON key for it. Paste the whole file. Then add the service account’s email address as a user in Google Ads.',
    },
    settings: ['login_customer_id', 'ad_user_data', 'ad_personalization', 'sends_contact'],
    eventLabel: 'Conversion action id',
    hasCustomData: false,
    canRestate: true,
    needsTestCode: false,
    nextStep: 'Enter the ids of your conversion actions in the event map. Until then nothing is reported.',
  },
}
