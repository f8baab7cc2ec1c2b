// The spend behind the fakes of both platforms' reports: a list that a test fills, by hour of the account's time zone.

/** The spend of an ad in an hour of its account's time zone. */
export type AdHour = {
  account: string
  day: string
  hour: number
  campaign: string
  adset: string
  ad: string
  amount: string
  /** Deleted ads are reported only if requested. */
  is_deleted?: boolean
}

export type AdLevel = 'ad' | 'adset' | 'campaign'

/** A platform's data: accounts with time zone and currency, tokens with their accounts and whether they may read reports. */
export type Books = {
  accounts: Record<string, { timezone: string; currency: string }>
  tokens: Record<string, { accounts: string[]; may_read: boolean }>
  hours: AdHour[]
  /** The most rows per page, whatever the request. */
  page_rows: number
}

export const emptyBooks = (): Books => ({ accounts: {}, tokens: {}, hours: [], page_rows: 1000 })

type ReportRow = { day: string; hour: number; id: string; name: string; amount: string }

/** The rows of a report, added up and sorted by hour and the level's id. */
export function reportOf(
  books: Books,
  request: { account: string; days: string[]; level: AdLevel; deleted: boolean },
): ReportRow[] {
  const { account, days, level, deleted } = request
  const rows = books.hours.filter(
    one => one.account === account && days.includes(one.day) && (deleted || one.is_deleted !== true),
  )
  const added = Map.groupBy(rows, one => `${one.day} ${String(one.hour).padStart(2, '0')} ${one[level]}`)
  return [...added]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, list]) => {
      const [first] = list as [AdHour]
      const cents = list.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0)
      return {
        day: first.day,
        hour: first.hour,
        id: first[level],
        name: `The ${level} ${first[level]}`,
        amount: (cents / 100).toFixed(2),
      }
    })
}

/** A time of day such as `07:00:00`. */
export const clock = (hour: number, rest = '00:00'): string => `${String(hour).padStart(2, '0')}:${rest}`
