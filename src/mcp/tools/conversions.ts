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
      'CANNOT BE UNDONE: charges the workspace balance (once per person), fires postbacks, forwards to the ad account. Right: events. ' +
      'Repeating clickId, type and nonce changes and charges nothing (replayed: true).',
    fields: {
      clickId: 'The value of {click_id}, or id in service_list_clicks.',
      type: 'Sluice itself records bot_start, channel_join, join_request, miniapp_launch, purchase, subscription_*; sent too, they count twice.',
      payout: `US dollars, 0 to ${MAX_PAYOUT}, as "12.50". None: the offer’s.`,
      nonce:
        'Your id of the conversion, such as an order number. A second one of a type on a click needs it; makes repeats safe.',
      payload: {
        type: 'object',
        description:
          'Stored. telegram_user_id identifies the person for billing. bot_start needs it, and with several bots bot_username or bot_id.',
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
