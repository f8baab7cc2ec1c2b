/** The 22 types of a conversion, with their labels. */
import { z } from 'zod'

export const EVENT_TYPES = [
  'click',
  'land',
  'bot_start',
  'channel_join',
  'join_request',
  'first_dm',
  'miniapp_launch',
  'lead',
  'registration',
  'deposit',
  'ftd',
  'purchase',
  'subscription_renewed',
  'subscription_cancelled',
  'custom_1',
  'custom_2',
  'custom_3',
  'custom_4',
  'custom_5',
  'custom_6',
  'custom_7',
  'custom_8',
] as const

export const EventType = z
  .enum(EVENT_TYPES, { error: `must be one of ${EVENT_TYPES.join(', ')}` })
  .meta({ description: 'Type of a conversion event' })
export type EventType = z.infer<typeof EventType>

export const EVENT_TYPE_LABELS: Readonly<Record<EventType, string>> = {
  click: 'Click',
  land: 'Landing visit',
  bot_start: 'Bot start',
  channel_join: 'Channel join',
  join_request: 'Join request',
  first_dm: 'First message',
  miniapp_launch: 'Mini App launch',
  lead: 'Lead',
  registration: 'Registration',
  deposit: 'Deposit',
  ftd: 'FTD',
  purchase: 'Purchase',
  subscription_renewed: 'Subscription renewed',
  subscription_cancelled: 'Subscription cancelled',
  custom_1: 'Custom 1',
  custom_2: 'Custom 2',
  custom_3: 'Custom 3',
  custom_4: 'Custom 4',
  custom_5: 'Custom 5',
  custom_6: 'Custom 6',
  custom_7: 'Custom 7',
  custom_8: 'Custom 8',
}

/** The types that a visitor's browser may report. Sluice and Telegram report the others themselves. */
const BROWSER_TYPES = [
  'lead',
  'registration',
  'deposit',
  'ftd',
  'purchase',
  'custom_1',
  'custom_2',
  'custom_3',
  'custom_4',
  'custom_5',
  'custom_6',
  'custom_7',
  'custom_8',
] as const satisfies readonly EventType[]
export const BrowserType = z.enum(BROWSER_TYPES, { error: `must be one of ${BROWSER_TYPES.join(', ')}` })

/** The types in a request that count at once if a browser reports them: each once. */
export const BrowserTypes = z
  .array(BrowserType)
  .transform(types => [...new Set(types)])
  .meta({
    description:
      'Types that count at once if a visitor’s browser reports them, always with a payout of 0. Anybody can forge such a report. API keys cannot change this',
  })
