/** The pace at which one address (`networkOf`) may report to one campaign. Anybody can send what a page sends. */
import { MINUTE_MS } from '../../contract/days.ts'
import { networkOf } from '../../ground/network.ts'
import { keepRecent } from '../../ground/recent.ts'

/** No person opens more pages in a minute. */
const MOST_PER_MINUTE = 60
/** Addresses whose pace is known, of one process. */
const PACED = 20_000

/** Returns whether a report of an address to a campaign exceeds the pace, and counts it. */
export function openReportPace(): (campaign_id: string, ip: string, ms: number) => boolean {
  // Most addresses report once, so the first time needs no list.
  const times = keepRecent<number | number[]>(PACED)
  return (campaign_id, ip, ms) => {
    const name = `${campaign_id} ${networkOf(ip)}`
    const known = times.get(name)
    if (known === undefined) {
      times.set(name, ms)
      return false
    }
    const last = typeof known === 'number' ? [known] : known
    if (last !== known) times.set(name, last)
    last.push(ms)
    if (last.length <= MOST_PER_MINUTE) return false
    return ms - (last.shift() ?? 0) < MINUTE_MS
  }
}
