/** Reporting conversions. */

import { MAX_PAYOUT } from '../../contract/fields.ts'
import { recordConversion } from '../../intake/events/api.ts'
import { payoutWarnings } from '../../intake/events/warnings.ts'
import { tool } from '../tool.ts'
import { FINAL_OUTSIDE } from './hints.ts'

export const conversionTools = [
  tool({
    name: 'service_report_conversion',
    title: 'Report a conversion',
    endpoint: recordConversion,
    hints: FINAL_OUTSIDE,
    description:
      'CANNOT BE UNDONE: charges the workspace balance (once per person), fires postbacks, forwards to the ad account. ' +
      'Records one conversion on a click and returns the event. The same clickId, type and nonce again records and charges nothing (replayed: true).',
    fields: {
      clickId: 'Click id: the value of {click_id}, or id from service_list_clicks.',
      type: 'What happened. The service itself records bot_start, channel_join, join_request, miniapp_launch, purchase and subscription_*: sent too, they count twice.',
      payout: `US dollars, 0 to ${MAX_PAYOUT}, as "12.50". Left out: the payout of the offer on the click.`,
      nonce:
        'Your id of this conversion, such as the order number. Needed to report a second conversion of one type on one click, and makes repeats safe.',
      payload: {
        type: 'object',
        description:
          'Free fields stored with the event. telegram_user_id names the person for billing; bot_start requires it, and bot_username (or bot_id) where there are several bots.',
        properties: {
          telegram_user_id: { type: 'string' },
          bot_username: { type: 'string' },
          bot_id: { type: 'string' },
        },
      },
    },
    // The route answers a resend with the stored row alone, byte for byte: what differs is said here.
    alsoSays: ({ payout }, { body, isReplayed }) =>
      isReplayed ? { replayed: true, warnings: payoutWarnings(body?.['payout'], payout) } : {},
  }),
]
