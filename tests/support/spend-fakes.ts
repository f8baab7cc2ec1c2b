// What ads have cost, as the fakes of both platforms' reports tell it: one list that a test writes, by hour of the account's own zone.

/** What one ad has cost in an hour of a day of its account's zone. */
export type AdHour = {
  account: string
  day: string
  hour: number
  campaign: string
  adset: string
  ad: string
  amount: string
  /** Gone since: told only to whoever asks for what was deleted. */
  is_deleted?: boolean
}

export type AdLevel = 'ad' | 'adset' | 'campaign'

/** What a platform knows: accounts with their zone and currency, tokens with the accounts they reach and whether they may read reports. */
export type Books = {
  accounts: Record<string, { timezone: string; currency: string }>
  tokens: Record<string, { accounts: string[]; may_read: boolean }>
  hours: AdHour[]
  /** Rows of a page at most, whatever is asked for. */
  page_rows: number
}

export const emptyBooks = (): Books => ({ accounts: {}, tokens: {}, hours: [], page_rows: 1000 })

type Told = { day: string; hour: number; id: string; name: string; amount: string }

/** The rows of a report: added up by the level's id and hour, in the order of both. */
export function reportOf(
  books: Books,
  asked: { account: string; days: string[]; level: AdLevel; deleted: boolean },
): Told[] {
  const { account, days, level, deleted } = asked
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

/** `00:00:00 - 00:59:59` without its end. */
export const clock = (hour: number, rest = '00:00'): string => `${String(hour).padStart(2, '0')}:${rest}`
