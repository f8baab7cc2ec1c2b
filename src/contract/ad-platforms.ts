/** The ad platforms that conversions are reported to, their standard events, and the default event map of a new account. */
import type { EventType } from './event-types.ts'

export const AD_PLATFORMS = ['meta', 'tiktok', 'google'] as const
export type AdPlatform = (typeof AD_PLATFORMS)[number]

export const AD_PLATFORM_LABELS: Readonly<Record<AdPlatform, string>> = {
  meta: 'Meta',
  tiktok: 'TikTok',
  google: 'Google Ads',
}

/** The parameters in which a platform passes the id of its click. A click with several belongs to the first platform in this order. */
export const CLICK_IDS = {
  meta: ['fbclid'],
  google: ['gclid', 'gbraid', 'wbraid'],
  tiktok: ['ttclid'],
} as const satisfies Readonly<Record<AdPlatform, readonly string[]>>
export type AdId = (typeof CLICK_IDS)[AdPlatform][number]
export const AD_IDS: readonly AdId[] = Object.values(CLICK_IDS).flat()

/** The events that each platform optimizes for. Meta and TikTok accept other names as custom events. Google's conversion actions are numbers. */
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

/** Meta accepts this event only with a value and a currency. */
export const META_PURCHASE = 'Purchase'

type MappedEvent = { name: string; custom_data?: { value?: string; currency?: string } }
type DefaultMap = Partial<Record<EventType, MappedEvent>>

// Deposits are left out, because a first deposit is also an `ftd`, and two Purchase events would count one payment twice.
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

// Zero until the value of a purchase is set, because a guess would steer the ads wrongly.
const WORTH_NOTHING_YET = { value: '0', currency: 'USD' }

/** The event map of a new account. Google's is empty, because its conversion actions are the advertiser's own. */
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
