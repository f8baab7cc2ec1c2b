/** What to do about a fault, in the words of the platform's own screens. */
import { PROVIDER_LABELS, type SpendAccount } from './api.ts'
import type { Fault } from './reader.ts'

type Provider = SpendAccount['provider']

const TOKENS: Readonly<Record<Provider, string>> = {
  meta: 'In Meta’s Business settings, System users, make a token with the permission ads_read and enter it here.',
  tiktok:
    'Authorize the advertiser again in TikTok’s Marketing API app, and enter the long-term access token it gives. The token of a pixel’s Events API is another one.',
}
const PERMISSIONS: Readonly<Record<Provider, string>> = {
  meta: 'In Meta’s Business settings give the token’s system user this ad account with “View performance”, and the token the permission ads_read. The token of a dataset in the Events Manager cannot read spend.',
  tiktok:
    'Have the advertiser authorize your Marketing API app with the permission Reporting. The token of a pixel’s Events API cannot read spend.',
}

/** What a person can do about a fault. */
export function hintOf(provider: Provider, code: Fault): string {
  if (code === 'token_refused') return TOKENS[provider]
  if (code === 'permission_missing') return PERMISSIONS[provider]
  if (code === 'account_not_found')
    return `Compare the account’s number with ${PROVIDER_LABELS[provider]}’s Ads Manager. ${PERMISSIONS[provider]}`
  if (code === 'rate_unknown')
    return 'Days with a rate are booked. Rates are asked for by themselves; where the currency has none, set your own under Settings, Rates.'
  if (code === 'timezone_unknown') return 'Import this account’s spend from a file, by UTC day.'
  if (code === 'rate_limited') return 'Nothing: it is read again by itself, and what was missed is made up for.'
  return 'Nothing: it is read again by itself. Where it stays so for a day, ask whoever runs this installation.'
}
