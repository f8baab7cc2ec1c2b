/** The time zones that this browser knows. Some that browsers list under old names get their current names. */

const NAMES: Readonly<Record<string, string>> = {
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Europe/Kiev': 'Europe/Kyiv',
}

const named = (zone: string): string => NAMES[zone] ?? zone

/** This browser's time zone. */
export const ownZone = (): string => named(Intl.DateTimeFormat().resolvedOptions().timeZone)

export const ZONE_NAMES: readonly string[] = [...new Set(Intl.supportedValuesOf('timeZone').map(named))].toSorted(
  (one, other) => one.localeCompare(other, 'en'),
)
