// Whether what the report says is true: held against the clicks themselves.
import { DAY_MS } from '../src/contract/days.ts'
import { toWireId } from '../src/contract/ids.ts'
import { COUNTERS } from '../src/intake/counters/deltas.ts'
import { DIMENSIONS } from '../src/reading/reports/api.ts'
import { type Recounted, recount } from '../src/reading/reports/recount.ts'
import type { Child } from './children.ts'
import type { BenchGround } from './ground.ts'
import type { Organization } from './organizations.ts'
import { Asking, windowOf } from './readings.ts'
import { DAYS } from './stock.ts'

type Counts = Record<(typeof COUNTERS)[number], number>

/** @throws when a report by any dimension is not what a recount of its clicks says. */
export async function checkReports(
  { database }: BenchGround,
  server: Child,
  { org_id, key }: Organization,
  now: number,
): Promise<void> {
  const asking = new Asking(server)
  const midnight = now - (now % DAY_MS)
  try {
    for (const dimension of DIMENSIONS) {
      const { body } = await asking.ask(key, `/api/v1/report?dimension=${dimension}&${windowOf(now)}`)
      const { rows } = body as { rows: (Counts & { key: string; revenue: string })[] }
      const from = midnight - (DAYS - 1) * DAY_MS
      const recounted = await recount(database.worker, org_id, from, midnight + DAY_MS - 1, dimension)
      const told = rows.map(row => lineOf(row, row.key))
      const counted = recounted.map(row => lineOf(row, wireKey(dimension, row)))
      const differing = counted.find((line, at) => line !== told[at])
      if (differing !== undefined || told.length !== counted.length)
        throw new Error(
          `the report by ${dimension} differs from a recount of its clicks, from ${differing ?? 'the end'} on`,
        )
    }
  } finally {
    await asking.close()
  }
}

const wireKey = (dimension: string, { key }: Recounted): string =>
  (dimension === 'campaign' || dimension === 'offer') && key !== '' ? toWireId(key) : key

const lineOf = (row: Counts & { revenue: string }, key: string): string =>
  [key, ...COUNTERS.map(name => row[name]), Number(row.revenue).toFixed(2)].join(' ')
