/** The ad platforms conversions are reported to, the names they know, and what a new account sends unless it is changed. */
import type { EventType } from './event-types.ts'

export const AD_PLATFORMS = ['meta', 'tiktok', 'google'] as const
export type AdPlatform = (typeof AD_PLATFORMS)[number]

/** The words people read. */
export const AD_PLATFORM_LABELS: Readonly<Record<AdPlatform, string>> = {
  meta: 'Meta',
  tiktok: 'TikTok',
  google: 'Google Ads',
}

/** The events each platform optimizes for; Meta and TikTok take other names as custom events. Google names its own by number. */
export const STANDARD_EVENTS: Readonly<Record<AdPlatform, readonly string[]>> = {
  meta: [
    'AddPaymentInfo',
    'AddToCart',
    'AddToWishlist',
    'CompleteRegistration',
    'Contact',
    'CustomizeProduct',
    'Donate',
    'FindLocation',
    'InitiateCheckout',
    'Lead',
    'PageView',
    'Purchase',
    'Schedule',
    'Search',
    'StartTrial',
    'SubmitApplication',
    'Subscribe',
    'ViewContent',
  ],
  tiktok: [
    'AddPaymentInfo',
    'AddToCart',
    'AddToWishlist',
    'ApplicationApproval',
    'CompleteRegistration',
    'Contact',
    'CustomizeProduct',
    'Download',
    'FindLocation',
    'InitiateCheckout',
    'Lead',
    'Purchase',
    'Schedule',
    'Search',
    'StartTrial',
    'SubmitApplication',
    'Subscribe',
    'ViewContent',
  ],
  google: [],
}

/** Meta's event that it takes only with a value and a currency. */
export const META_PURCHASE = 'Purchase'

type MappedEvent = { name: string; custom_data?: { value?: string; currency?: string } }
type DefaultMap = Partial<Record<EventType, MappedEvent>>

// A deposit is left out: a first deposit is an `ftd` as well, and both as Purchase would count one payment twice.
const FUNNEL: DefaultMap = {
  land: { name: 'ViewContent' },
  bot_start: { name: 'Lead' },
  join_request: { name: 'Contact' },
  channel_join: { name: 'Subscribe' },
  first_dm: { name: 'Contact' },
  miniapp_launch: { name: 'ViewContent' },
  lead: { name: 'Lead' },
  registration: { name: 'CompleteRegistration' },
}

// Zero until someone says what a purchase is worth: a guess would steer the ads wrongly.
const WORTH_NOTHING_YET = { value: '0', currency: 'USD' }

/** The event map of a new account. Google's is empty: its conversion actions are the advertiser's own. */
export const DEFAULT_MAPS: Readonly<Record<AdPlatform, DefaultMap>> = {
  meta: {
    ...FUNNEL,
    ftd: { name: META_PURCHASE, custom_data: WORTH_NOTHING_YET },
    purchase: { name: META_PURCHASE, custom_data: WORTH_NOTHING_YET },
    subscription_renewed: { name: 'SubscriptionRenewed' },
  },
  tiktok: { ...FUNNEL, ftd: { name: 'Purchase' }, purchase: { name: 'Purchase' } },
  google: {},
}
