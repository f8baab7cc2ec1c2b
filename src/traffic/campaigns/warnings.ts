/** What is said beside a campaign that was written: macros that are none, and a click flow without a fallback behind it. */
import { macroWarnings, type Warning } from '../../contract/warnings.ts'
import { unknownMacros } from '../addresses/preview.ts'
import type * as api from './api.ts'
import type { Leading } from './destination.ts'

type Sent = { readonly [F in 'destination' | 'fallback_url']?: api.CampaignDraft[F] | undefined }

/** What is to be said of the addresses that were sent, and of a click flow that was left without a fallback by it. */
export function warningsOn(
  { destination, fallback_url }: Sent,
  row: Pick<api.Campaign, 'fallback_url'> & Leading,
): Warning[] {
  const url = destination?.type === 'redirect' ? destination.url : null
  const isOpenEnded =
    (destination !== undefined || fallback_url !== undefined) &&
    row.destination.type === 'click_flow' &&
    row.fallback_url === null
  return [
    ...macroWarnings('destination.url', unknownMacros(url)),
    ...macroWarnings('fallback_url', unknownMacros(fallback_url ?? null)),
    ...(isOpenEnded ? [NO_FALLBACK] : []),
  ]
}

const NO_FALLBACK: Warning = {
  code: 'no_fallback',
  field: 'fallback_url',
  message:
    'Visitors the click flow cannot take, while it is paused or something on their path is archived, have nowhere to go. Give the campaign a fallback (fallback_url).',
}
