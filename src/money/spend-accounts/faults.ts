/** What to do about a fault, in the terms of the platform's own screens. */
import { PROVIDER_LABELS, type SpendAccount } from './api.ts'
import type { SpendFaultCode } from './reader.ts'

type Provider = SpendAccount['provider']

const TOKENS: Readonly<Record<Provider, string>> = {
  meta: 'In Meta’s Business settings, System users, make a token with the permission ads_read and enter it here.',
  tiktok:
    'Authorize the advertiser again in your TikTok Marketing API app and enter the new long-term access token. A pixel’s Events API token does not work here.',
}
const PERMISSIONS: Readonly<Record<Provider, string>> = {
  meta: 'In Meta’s Business settings give the token’s system user this ad account with “View performance”, and the token the permission ads_read. The token of a dataset in the Events Manager cannot read spend.',
  tiktok:
    'Ask the advertiser to authorize your Marketing API app with the permission Reporting. A pixel’s Events API token cannot read spend.',
}

/** The hint shown with a fault. */
export function hintOf(provider: Provider, code: SpendFaultCode): string {
  if (code === 'token_refused') return TOKENS[provider]
  if (code === 'permission_missing') return PERMISSIONS[provider]
  if (code === 'account_not_found')
    return `Compare the account number with ${PROVIDER_LABELS[provider]}’s Ads Manager. ${PERMISSIONS[provider]}`
  if (code === 'rate_unknown')
    return 'Days with a rate are booked. Rates are fetched automatically; if the currency has none, set an own rate under Settings, Rates.'
  if (code === 'timezone_unknown') return 'Import this account’s spend from a file, by UTC day.'
  if (code === 'rate_limited') return 'No action needed: Sluice retries and catches up.'
  return 'No action needed: Sluice retries. If it lasts for a day, ask the operator of this installation.'
}
