/** Ad spend: what traffic cost. */
import { recordAdSpend } from '../../money/ad-spend/api.ts'
import { leftOut, tool } from '../tool.ts'
import { FINAL } from './hints.ts'
import { CAMPAIGN_ID } from './words.ts'

export const adSpendTools = [
  tool({
    name: 'service_record_ad_spend',
    title: 'Record ad spend',
    endpoint: recordAdSpend,
    hints: FINAL,
    description:
      'OVERWRITES what was recorded for the same campaign, day and sub1; an empty amount DELETES it. Reports show it as cost.',
    fields: {
      campaign_id: CAMPAIGN_ID,
      day: 'UTC day, as 2026-03-01.',
      sub1: 'Exactly this sub1. None: spend without one.',
      amount: 'US dollars, as "12.50"; "" deletes the row.',
      currency: leftOut('keys record US dollars only'),
    },
  }),
]
