// Checks the report against a recount of the clicks.
import { DAY_MS } from '../src/contract/days.ts'
import { toWireId } from '../src/contract/ids.ts'
import { COUNTERS } from '../src/intake/counters/deltas.ts'
import { DIMENSIONS } from '../src/reading/reports/api.ts'
import { type Recounted, recount, recountCosts } from '../src/reading/reports/recount.ts'
import { hasCost } from '../src/reading/reports/spend.ts'
import type { Child } from './children.ts'
import type { BenchGround } from './ground.ts'
import type { Organization } from './organizations.ts'
import { Asking, windowOf } from './readings.ts'
import { DAYS } from './stock.ts'

type Counts = Record<(typeof COUNTERS)[number], number>

/** @throws if a report by any dimension differs from a recount of its clicks. */
export async function checkReports(
  { database }: BenchGround,
  server: Child,
  { org_id, key }: Organization,
  now: number,
): Promise<void> {
  const asking = new Asking(server)
  // Without a statement timeout, because a recount reads all clicks.
  const client = database.dedicated()
  await client.connect()
  const midnight = now - (now % DAY_MS)
  try {
    for (const dimension of DIMENSIONS) {
      const { body } = await asking.ask(key, `/api/v1/report?dimension=${dimension}&${windowOf(now)}`)
      const { rows } = body as { rows: (Counts & { key: string; revenue: string; cost?: string })[] }
      const from = midnight - (DAYS - 1) * DAY_MS
      const to = midnight + DAY_MS - 1
      const recounted = await recount(client, org_id, from, to, dimension)
      const costs = hasCost(dimension) ? await recountCosts(client, org_id, from, to, dimension) : []
      const costOf = (key: string) => costs.find(row => row.key === key)?.cost ?? '0'
      // Spend without clicks is a separate row.
      const told = rows.filter(({ clicks }) => clicks > 0).map(row => lineOf(row, row.key, row.cost ?? '0'))
      const counted = recounted.map(row => lineOf(row, wireKey(dimension, row), costOf(row.key)))
      const differing = counted.find((line, at) => line !== told[at])
      if (differing !== undefined || told.length !== counted.length)
        throw new Error(
          `the report by ${dimension} differs from a recount of its clicks, from ${differing ?? 'the end'} on`,
        )
    }
  } finally {
    await asking.close()
    await client.end()
  }
}

const wireKey = (dimension: string, { key }: Recounted): string =>
  (dimension === 'campaign' || dimension === 'offer') && key !== '' ? toWireId(key) : key

const lineOf = (row: Counts & { revenue: string }, key: string, cost: string): string =>
  [key, ...COUNTERS.map(name => row[name]), ...[row.revenue, cost].map(inCents)].join(' ')

/** Exact, rounded half up, like a report. */
function inCents(amount: string): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  return String((BigInt(whole + fraction.padEnd(9, '0')) + 5_000_000n) / 10_000_000n)
}
