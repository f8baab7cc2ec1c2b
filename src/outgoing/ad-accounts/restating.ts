/** What an ad platform can be told of a conversion that it was told before. */
import { AD_PLATFORM_LABELS, type AdPlatform } from '../../contract/ad-platforms.ts'
import { DAY_MS } from '../../contract/days.ts'
import type { EventStatus } from '../../contract/revisions.ts'

type Account = { readonly platform: AdPlatform; readonly restate: boolean | null }

/**
 * Why an account is not told what a conversion counts for since; undefined: it is. Only Google takes another value for a conversion it
 * knows, and what it was told to be worth 0 can never be corrected again.
 */
export function whyNotRestated(
  { platform, restate }: Account,
  { status, isWorth }: { readonly status: EventStatus; readonly isWorth: boolean },
): string | undefined {
  if (platform !== 'google')
    return `cannot be taken back here: ${AD_PLATFORM_LABELS[platform]} takes no correction of what it was told`
  if (status !== 'approved' || !isWorth)
    return 'cannot be taken back here: Google is never told 0, which could not be corrected again. Retract it in Google Ads'
  return restate === true ? undefined : 'the ad account does not restate amounts'
}

/** The oldest conversion each platform takes. */
const OLDEST_DAYS: Readonly<Record<AdPlatform, number>> = { meta: 7, tiktok: 7, google: 90 }

/** Why a conversion is not told that was held until it was too old for the platform, `age_ms` after it was recorded. */
export function whyTooOld(platform: AdPlatform, age_ms: number): string | undefined {
  const days = OLDEST_DAYS[platform]
  if (age_ms <= days * DAY_MS) return undefined
  return `too_old: it was approved later than the ${days} days that ${AD_PLATFORM_LABELS[platform]} takes`
}
