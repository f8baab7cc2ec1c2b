/** The tool that reports conversions. */
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
      'Records one conversion on a click and returns the event. Repeating the same clickId, type and nonce changes and charges nothing (replayed: true).',
    fields: {
      clickId: 'Click id: the value of {click_id}, or id from service_list_clicks.',
      type: 'The service itself records bot_start, channel_join, join_request, miniapp_launch, purchase and subscription_*; if you send them too, they count twice.',
      payout: `US dollars, 0 to ${MAX_PAYOUT}, as "12.50". If omitted: the payout of the click’s offer.`,
      nonce:
        'Your id for this conversion, such as the order number. Needed for a second conversion of one type on one click; makes repeats safe.',
      payload: {
        type: 'object',
        description:
          'Stored with the event. telegram_user_id identifies the person for billing. bot_start requires it, and with several bots also bot_username or bot_id.',
        properties: {
          telegram_user_id: { type: 'string' },
          bot_username: { type: 'string' },
          bot_id: { type: 'string' },
        },
      },
    },
    // The route answers a resend with the stored row only, so a different payout is reported here.
    addToReply: ({ payout, warnings = [] }, { body, isReplayed }) =>
      isReplayed ? { warnings: [...warnings, ...payoutWarnings(body?.['payout'], payout)] } : {},
  }),
]
