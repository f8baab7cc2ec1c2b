// Two hours of ordinary traffic with deliveries: memory and handles of a process do not grow.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAudit, drained } from '../support/audit.ts'
import { freshDatabase } from '../support/database.ts'
import { faultGround } from '../support/fault-ground.ts'
import { Load } from '../support/load.ts'
import { handlesOf, residentBytes, type Sluice } from '../support/sluice.ts'
import { reportSteadily } from '../support/steady-load.ts'

const minutes = Number(process.env['SLUICE_SOAK_MINUTES'] ?? 0)
const skip = minutes === 0 ? 'it takes two hours: see npm run test:faults -- --soak' : false
const ORGANIZATIONS = 4
/** A hundredth of a short run, so that each tenth of it has samples. */
const SAMPLE_MS = Math.min(10_000, minutes * 600)
/** The time in which caches fill and the heap settles; a run of less than an hour ends before that. */
const WARM = 1 / 3
const JUDGED_MINUTES = 60
const GROWTH_MB_AN_HOUR = 5
/** Allowed, because connections to a receiver come and go. */
const SPARE_HANDLES = 10

type Sample = { hours: number; mb: number; handles: number }

function sampleOf(sluice: Sluice, begun: number): Sample {
  return {
    hours: (performance.now() - begun) / 3_600_000,
    mb: residentBytes(sluice) / 1024 / 1024,
    handles: handlesOf(sluice),
  }
}

/** The growth per hour, by least squares. */
function slope(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number) => samples.reduce((sum, one) => sum + of(one), 0) / samples.length
  const [hours, mb] = [mean(one => one.hours), mean(one => one.mb)]
  const along = samples.reduce((sum, one) => sum + (one.hours - hours) * (one.mb - mb), 0)
  return along / samples.reduce((sum, one) => sum + (one.hours - hours) ** 2, 0)
}

const median = (list: readonly number[]) => list.toSorted((a, b) => a - b)[list.length >> 1] ?? Number.NaN

test('after two hours of traffic memory and handles have not grown, the outbox is empty and the books are exact', {
  skip,
}, async t => {
  const fresh = await freshDatabase()
  const ground = await faultGround(fresh.database, fresh.url, ORGANIZATIONS)
  try {
    const sluice = await ground.start(0)
    const load = new Load({ address: () => sluice.address })
    const begun = performance.now()
    const samples: Sample[] = []
    const sampling = setInterval(() => samples.push(sampleOf(sluice, begun)), SAMPLE_MS)
    await reportSteadily(load, ground.targets, begun + minutes * 60_000).finally(() => clearInterval(sampling))
    const warm = samples.slice(Math.floor(samples.length * WARM))
    const tenth = Math.ceil(warm.length / 10)
    const [first, last] = [warm.slice(0, tenth), warm.slice(-tenth)].map(part => median(part.map(one => one.handles)))
    const parts = Array.from({ length: 10 }, (_, at) =>
      median(samples.slice((samples.length * at) / 10, (samples.length * (at + 1)) / 10).map(({ mb }) => mb)).toFixed(
        0,
      ),
    )
    t.diagnostic(`${load.events.size} conversions in ${minutes} minutes; MB in each tenth of them: ${parts.join(' ')}`)
    t.diagnostic(`${slope(warm).toFixed(1)} MB more an hour; ${first} handles, ${last} at the end`)
    assert.ok((last ?? Number.NaN) <= (first ?? Number.NaN) + SPARE_HANDLES, `${first} handles became ${last}`)
    if (minutes >= JUDGED_MINUTES) assert.ok(slope(warm) < GROWTH_MB_AN_HOUR, `${slope(warm)} MB more an hour`)
    assert.ok(load.events.size > minutes * 60 * 50, `only ${load.events.size} conversions`)
    await drained(fresh.database.reads, ground.receiver)
    const { targets, receiver } = ground
    await assertAudit(fresh.database.reads, load, { targets, receiver, address: sluice.address })
  } finally {
    await ground.end()
    await fresh.drop()
  }
})
