// Weekly bills in another time zone, spread over the clicks of their weeks.
import type { Transaction } from 'kysely'
import { DAY_MS, dayOf } from '../src/contract/days.ts'
import { newId } from '../src/contract/ids.ts'
import { localIn, momentIn } from '../src/contract/zones.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import { bookSpend } from '../src/money/ad-spend/booked.ts'
import { rowsToBook, divideByWeights } from '../src/money/ad-spend/share.ts'
import { chanceOf } from './chance.ts'
import type { DemoClick, Place } from './traffic.ts'

type Trx = Transaction<Tables>
type SpreadSeed = { org_id: number; user_id: string; seed: string; now: number }

/** Inserts the bills of the weeks that ended at the zone's last midnight. */
export async function insertSpreads(
  trx: Trx,
  seeded: SpreadSeed,
  places: readonly Place[],
  clicks: readonly DemoClick[],
): Promise<void> {
  for (const { campaign, campaign_id } of places) {
    const { billedIn: zone, cost_per_click, from, to, key } = campaign
    if (zone === undefined) continue
    const midnight = (daysAgo: number) =>
      Date.parse(momentIn(zone, `${localIn(zone, seeded.now - daysAgo * DAY_MS).slice(0, 10)}T00:00`) ?? '')
    const own = clicks.filter(click => click.campaign_id === campaign_id && click.tracked)
    for (let ago = from - ((from - to) % 7); ago >= to + 7; ago -= 7) {
      const span = { from: midnight(ago), to: midnight(ago - 7) }
      const chance = chanceOf(seeded.seed, 'bill', key, String(ago))
      const within = own.filter(({ ms }) => ms >= span.from && ms < span.to)
      const amount = (within.length * cost_per_click * (0.9 + chance() * 0.2)).toFixed(2)
      if (within.length > 0) await bill(trx, seeded, { campaign_id, span, amount }, within)
    }
  }
}

type Bill = { campaign_id: string; span: { from: number; to: number }; amount: string }

async function bill(
  trx: Trx,
  { org_id, user_id }: SpreadSeed,
  { campaign_id, span, amount }: Bill,
  clicks: DemoClick[],
) {
  const cells = [...Map.groupBy(clicks, ({ ms, sub1 }) => JSON.stringify([dayOf(ms), sub1 ?? '']))].toSorted(
    ([a], [b]) => (a < b ? -1 : 1),
  )
  const parts = divideByWeights(
    amount,
    cells.map(([, of]) => of.length),
  )
  const rows = cells.map(([cell], at) => {
    const [day, sub1] = JSON.parse(cell) as [string, string]
    return { day, sub1, amount: parts[at] ?? '0' }
  })
  const days = Array.from({ length: Math.ceil(span.to / DAY_MS) - Math.floor(span.from / DAY_MS) }, (_, at) =>
    dayOf(span.from + at * DAY_MS),
  )
  const [id, created_at] = [newId(span.to), new Date(span.to + 9 * 3_600_000).toISOString()]
  const [from_at, to_at] = [new Date(span.from).toISOString(), new Date(span.to).toISOString()]
  const row = { org_id, id, campaign_id, sub1: '', from_at, to_at, amount, clicks: String(clicks.length) }
  await trx
    .insertInto('spend_spreads')
    .values({ ...row, created_by: user_id, created_at })
    .execute()
  await bookSpend(trx, org_id, `spread:${id}`, rowsToBook(rows, { campaign_id, sub1: '', days }))
}
