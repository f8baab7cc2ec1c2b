// The verdicts of a soak, from its points: whether memory, latency, open files and dead rows stay flat.
import { median } from '../ratio.ts'
import type { Books } from './books.ts'
import type { SoakPoint } from './watch.ts'

/** `holds` is null where the run is too short to judge. */
export type Verdict = { name: string; holds: boolean | null; words: string }

/** Shorter runs measure how a process warms up. */
const JUDGED_MINUTES = 30
/** Growth that fails, if it is certain and if it also is a part of the size that matters. */
const GROWTH_MB_AN_HOUR = 5
const GROWTH_PART = 0.05
const SLOWER = 1.5
/** Connections to receivers and to the database come and go. */
const SPARE_HANDLES = 10
/** Sealing begins every 10 s, and rests between portions. A sheet has one click or more. */
const QUEUED_S = 60
/** PostgreSQL vacuums a table at 50 dead rows and a fifth of the live ones, but looks only once a minute. */
const VACUUM_LATE = 2
const DEAD_IN_A_MINUTE = 100_000
/** Those with the most dead rows; the others are in the file of points. */
const MOST_TABLES = 12

/** A rise per hour by least squares, with its interval of 95 %, which takes the points for independent and so is rather too narrow. */
export type Slope = { an_hour: number; low: number; high: number }

export function slopeOf(points: readonly { hours: number; value: number }[]): Slope {
  const mean = (of: (point: { hours: number; value: number }) => number) =>
    points.reduce((sum, one) => sum + of(one), 0) / points.length
  const [hours, value] = [mean(one => one.hours), mean(one => one.value)]
  const spread = points.reduce((sum, one) => sum + (one.hours - hours) ** 2, 0)
  const an_hour = points.reduce((sum, one) => sum + (one.hours - hours) * (one.value - value), 0) / spread
  const rest = points.reduce((sum, one) => sum + (one.value - value - an_hour * (one.hours - hours)) ** 2, 0)
  const margin = 1.96 * Math.sqrt(rest / Math.max(1, points.length - 2) / spread)
  return { an_hour, low: an_hour - margin, high: an_hour + margin }
}

/** A quarter of the points. */
export const quarter = (points: readonly SoakPoint[], number: 1 | 2 | 3 | 4): readonly SoakPoint[] =>
  points.slice(Math.floor((points.length * (number - 1)) / 4), Math.max(1, Math.floor((points.length * number) / 4)))
const secondHalf = (points: readonly SoakPoint[]): readonly SoakPoint[] => points.slice(Math.floor(points.length / 2))
const minutesOf = (points: readonly SoakPoint[]): number => (points.at(-1)?.at_s ?? 0) / 60

/** `holds` is null, with the reason, if the run is too short. */
const judged = (points: readonly SoakPoint[], name: string, holds: boolean, words: string): Verdict =>
  minutesOf(points) >= JUDGED_MINUTES
    ? { name, holds, words }
    : { name, holds: null, words: `${words}; runs of less than ${JUDGED_MINUTES} minutes are not judged` }

/** Memory of one process in the second half, once its caches are full and its heap has settled. */
export function judgeMemory(points: readonly SoakPoint[], process: string): Verdict {
  const half = secondHalf(points).map(({ at_s, memory_mb }) => ({ hours: at_s / 3600, value: memory_mb[process] ?? 0 }))
  const { an_hour, low, high } = slopeOf(half)
  const size = median(half.map(({ value }) => value))
  const growth = (an_hour * (points.at(-1)?.at_s ?? 0)) / 3600
  const grows = low > GROWTH_MB_AN_HOUR && growth > size * GROWTH_PART
  const peak = Math.max(...points.map(({ memory_mb }) => memory_mb[process] ?? 0))
  return judged(
    points,
    `memory of ${process}`,
    !grows,
    `${size.toFixed(0)} MB, at most ${peak.toFixed(0)}; ${signed(an_hour)} MB an hour (${signed(low)} to ${signed(high)}) in the second half`,
  )
}

const signed = (value: number): string => `${value >= 0 ? '+' : '−'}${Math.abs(value).toFixed(1)}`

export function judgeLatency(points: readonly SoakPoint[], kind: 'redirects' | 'conversions'): Verdict {
  // A window without an answer has none; its requests count in the next one.
  const p99 = (part: readonly SoakPoint[]) => median(part.map(one => one[kind].p99).filter(Number.isFinite))
  const [early, late] = [p99(quarter(points, 2)), p99(quarter(points, 4))]
  const p50 = median(points.map(one => one[kind].p50))
  const rate = median(points.map(one => one[kind].per_second))
  return judged(
    points,
    `latency of ${kind}`,
    late <= early * SLOWER,
    `p99 ${early.toFixed(1)} ms in the second quarter, ${late.toFixed(1)} ms in the last; p50 ${p50.toFixed(1)} ms at ${rate.toFixed(1)} a second`,
  )
}

export function judgeHandles(points: readonly SoakPoint[]): Verdict {
  const of = (part: readonly SoakPoint[]) => median(part.map(({ handles }) => handles))
  const [early, late] = [of(quarter(points, 2)), of(quarter(points, 4))]
  return judged(points, 'open files of Sluice', late <= early + SPARE_HANDLES, `${early}, at the end ${late}`)
}

/** Sheets that wait to be folded into the report or sealed for Explore: a queue that grows makes questions slower and slower. */
export function judgeQueue(points: readonly SoakPoint[], kind: 'unfolded' | 'unsealed'): Verdict {
  const of = (part: readonly SoakPoint[]) => median(part.map(one => one[kind]))
  const [early, late] = [of(quarter(points, 2)), of(quarter(points, 4))]
  const clicks = median(points.map(({ redirects }) => redirects.per_second))
  const holds = late <= Math.max(early * SLOWER, clicks * QUEUED_S)
  return judged(points, `${kind} sheets`, holds, `${early} in the second quarter, ${late} in the last`)
}

/** Every redirect must be answered with 302 and every conversion with 201. */
export function judgeAnswers(points: readonly SoakPoint[], strange: string | null): Verdict {
  const all = (kind: 'redirects' | 'conversions') => {
    const counts = new Map<string, number>()
    for (const point of points)
      for (const [status, count] of Object.entries(point[kind].statuses))
        counts.set(status, (counts.get(status) ?? 0) + count)
    return counts
  }
  const [redirects, conversions] = [all('redirects'), all('conversions')]
  const text = (counts: Map<string, number>) => [...counts].map(([status, count]) => `${count} × ${status}`).join(', ')
  const holds =
    strange === null &&
    [...redirects.keys()].every(one => one === '302') &&
    [...conversions.keys()].every(one => one === '201')
  const words = `redirects ${text(redirects)}; conversions ${text(conversions)}`
  return { name: 'answers', holds, words: strange === null ? words : `${words}; the first wrong one: ${strange}` }
}

/** Questions, broadcasts and the ad account must not fail. */
export const judgeErrands = ({ count, first }: { count: number; first: readonly string[] }): Verdict => ({
  name: 'questions and errands',
  holds: count === 0,
  words: count === 0 ? 'none failed' : `${count} failed, such as: ${first.join('; ')}`,
})

/** Tables that had dead rows, with how often they were vacuumed. */
export function judgeVacuum(points: readonly SoakPoint[]): Verdict {
  const tables = Object.entries(points.at(-1)?.tables ?? {}).toSorted(([, one], [, other]) => other.dead - one.dead)
  const late = tables.filter(([, { dead, live }]) => dead > Math.max(DEAD_IN_A_MINUTE, VACUUM_LATE * (50 + live / 5)))
  const vacuumed = tables.filter(([, { vacuums }]) => vacuums > 0)
  const text = (some: typeof tables) =>
    some.map(([name, { dead, vacuums }]) => `${name} ${vacuums} times, ${dead} dead rows left`).join('; ')
  const rest = tables.filter(([, { vacuums }]) => vacuums === 0).reduce((sum, [, { dead }]) => sum + dead, 0)
  return {
    name: 'autovacuum',
    holds: late.length === 0,
    words:
      late.length > 0
        ? `too many dead rows: ${text(late)}`
        : `${vacuumed.length === 0 ? 'none needed yet' : text(vacuumed.slice(0, MOST_TABLES))}; ${rest} dead rows in ${tables.length - vacuumed.length} other tables`,
  }
}

/** `names` are the monthly partitions, `strays` the rows in default ones. */
export function judgePartitions(names: readonly string[], strays: number, now: Date): Verdict {
  const next = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1))
  const needed = [now, next].map(one => one.toISOString().slice(0, 7).replace('-', '_'))
  const holds = strays === 0 && needed.every(month => names.some(name => name.includes(month)))
  return { name: 'partitions', holds, words: `${names.join(', ')}; ${strays} rows in default ones` }
}

export const judgeBooks = ({ wrong }: Books): Verdict => ({
  name: 'books',
  holds: wrong.length === 0,
  words: wrong.length === 0 ? 'exact' : wrong.join('\n'),
})
