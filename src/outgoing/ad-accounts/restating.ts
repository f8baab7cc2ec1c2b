/** Decides whether a change of a reported conversion can be reported to its ad platform. */
import { AD_PLATFORM_LABELS, type AdPlatform } from '../../contract/ad-platforms.ts'
import { DAY_MS } from '../../contract/days.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import { adapterOf } from './platforms.ts'

type RestatingAccount = { readonly platform: AdPlatform; readonly restate: boolean | null }

/**
 * Why an account is not told the new amount of a conversion; undefined if it is told. Only Google accepts another value for a conversion it knows,
 * and a value of 0 can never be corrected again there.
 */
export function whyNotRestated(
  { platform, restate }: RestatingAccount,
  { status, isWorth }: { readonly status: EventStatus; readonly isWorth: boolean },
): string | undefined {
  if (!adapterOf(platform).acceptsCorrections)
    return `cannot be taken back here: ${AD_PLATFORM_LABELS[platform]} accepts no corrections`
  if (status !== 'approved' || !isWorth)
    return 'cannot be taken back here: Google is never sent 0, because it could not correct that again. Retract it in Google Ads'
  return restate === true ? undefined : 'the ad account does not restate amounts'
}

/** Why a conversion that was held for `age_ms` is not reported: it is too old for the platform. Undefined if it is not. */
export function whyTooOld(platform: AdPlatform, age_ms: number): string | undefined {
  const days = adapterOf(platform).max_age_days
  if (age_ms <= days * DAY_MS) return undefined
  return `too_old: it was approved after the ${days} days that ${AD_PLATFORM_LABELS[platform]} accepts`
}
