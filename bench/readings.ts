// Report and feed over HTTP with a key: two organizations in turn, one with ten times the clicks of the other.
import { Client } from 'undici'
import { DAY_MS } from '../src/contract/days.ts'
import { DIMENSIONS } from '../src/reading/reports/api.ts'
import type { Child } from './children.ts'
import { ms } from './clicks.ts'
import type { Organization } from './organizations.ts'
import type { Plan } from './plan.ts'
import { median, percentile, ratioOf, ratiosOf } from './ratio.ts'
import { type Finding, finding, findingOf } from './rows.ts'
import { DAYS, SPEND_ROWS } from './stock.ts'
import { type Scan, scanText, work, workText } from './yardsticks.ts'

const PAGE = 100
const LARGEST_PAGE = 1000

/** One connection with one request at a time. Times are those of the whole answer. */
export class Asking {
  readonly #client: Client

  constructor({ port }: Pick<Child, 'port'>) {
    this.#client = new Client(`http://127.0.0.1:${port}`)
  }

  async ask(key: string, path: string): Promise<{ took: number; body: unknown }> {
    const started = performance.now()
    const answer = await this.#client.request({ method: 'GET', path, headers: { 'x-api-key': key } })
    const text = await answer.body.text()
    const took = performance.now() - started
    if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}: ${text.slice(0, 300)}`)
    return { took, body: JSON.parse(text) }
  }

  close = (): Promise<void> => this.#client.close()
}

type Stocked = { large: Organization; small: Organization; now: number }

/** 92 whole days, including today. */
export const windowOf = (now: number): string => {
  const midnight = now - (now % DAY_MS)
  const from = new Date(midnight - (DAYS - 1) * DAY_MS).toISOString()
  return `date_from=${from}&date_to=${new Date(midnight + DAY_MS - 1).toISOString()}`
}

/** The report of 92 days with 10,000 rows of spend by every dimension, and its growth with the number of clicks. */
export async function measureReport(
  { scan }: Scan,
  server: Child,
  { large, small, now }: Stocked,
  { rounds, readings }: Plan,
): Promise<Finding[]> {
  const asking = new Asking(server)
  const ragged = `date_from=${new Date(now - (DAYS - 0.5) * DAY_MS).toISOString()}&date_to=${new Date(now - DAY_MS / 2).toISOString()}`
  const paths = { large: windowOf(now), small: windowOf(now), ragged }
  const keys = { large: large.key, small: small.key, ragged: large.key }
  const windows: ReportWindow[] = []
  try {
    for (let round = 0; round <= rounds; round += 1) {
      const took = { large: timesByDimension(), small: timesByDimension(), ragged: timesByDimension() }
      const scans: number[] = []
      for (const dimension of DIMENSIONS) {
        scans.push(await scan())
        for (let reading = 0; reading < readings; reading += 1)
          for (const kind of reading % RAGGED_EACH === 0 ? KINDS : KINDS.slice(0, 2)) {
            const path = `/api/v1/report?dimension=${dimension}&${paths[kind]}`
            took[kind][dimension].push((await asking.ask(keys[kind], path)).took)
          }
      }
      // The first round warms up.
      if (round > 0) windows.push({ took, scan: median(scans) })
    }
  } finally {
    await asking.close()
  }
  return judgeReport(windows)
}

const KINDS = ['large', 'small', 'ragged'] as const
/** Windows that begin in the middle of a day are not judged, so they are read a quarter as often. */
const RAGGED_EACH = 4

type Times = Record<(typeof DIMENSIONS)[number], number[]>
const timesByDimension = (): Times => ({ campaign: [], geo: [], sub1: [], offer: [], day: [] })
type ReportWindow = { took: Record<'large' | 'small' | 'ragged', Times>; scan: number }

function judgeReport(windows: readonly ReportWindow[]): Finding[] {
  const p95s = (kind: 'large' | 'small' | 'ragged') =>
    DIMENSIONS.map(dimension =>
      percentile(
        windows.flatMap(({ took }) => took[kind][dimension]),
        0.95,
      ),
    )
  const [large, small, ragged] = [p95s('large'), p95s('small'), p95s('ragged')]
  const worst = large.indexOf(Math.max(...large))
  const slowest = DIMENSIONS[worst] ?? 'campaign'
  const inWindows = (kind: 'large' | 'small') => windows.map(({ took }) => percentile(took[kind][slowest], 0.95))
  const scans = windows.map(({ scan }) => scan)
  const each = (values: number[]) =>
    DIMENSIONS.map((dimension, at) => `${dimension} ${ms(values[at] ?? Number.NaN)}`).join(', ')
  return [
    findingOf('report_p95_ms', large[worst] ?? Number.NaN, ratiosOf(inWindows('large'), scans), scanText(scans), [
      `the slowest dimension of ${DAYS} whole days with ${SPEND_ROWS.toLocaleString('en-US')} rows of spend that override costs of clicks; p95: ${each(large)}`,
      `the same with both ends in the middle of a day: ${each(ragged)}`,
    ]),
    finding('report_growth', ratiosOf(inWindows('large'), inWindows('small')), [
      `${slowest}, compared with a tenth of the clicks: ${each(small)}`,
    ]),
  ]
}

/** A page of the feed: the first, and one after thousands of pages. */
export async function measureFeed(server: Child, { large, now }: Stocked, { rounds, readings, deepAfter }: Plan) {
  const asking = new Asking(server)
  const path = `/api/v1/clicks?${windowOf(now)}&tracked=all&limit=`
  const took = { first: [] as number[], deep: [] as number[] }
  const windows = { ratio: [] as number[], p95: [] as number[], yardstick: [] as number[] }
  try {
    const cursor = await pageTo(asking, large.key, path, deepAfter)
    const pages = { first: `${path}${PAGE}`, deep: `${path}${PAGE}&cursor=${encodeURIComponent(cursor)}` }
    for (let round = 0; round <= rounds; round += 1) {
      const times = { first: [] as number[], deep: [] as number[] }
      const before = work()
      for (let reading = 0; reading < readings * 2; reading += 1)
        for (const kind of ['first', 'deep'] as const) times[kind].push((await asking.ask(large.key, pages[kind])).took)
      if (round === 0) continue
      took.first.push(...times.first)
      took.deep.push(...times.deep)
      windows.ratio.push(median(times.deep) / median(times.first))
      windows.p95.push(Math.max(percentile(times.first, 0.95), percentile(times.deep, 0.95)))
      windows.yardstick.push((before + work()) / 2)
    }
  } finally {
    await asking.close()
  }
  const [first, deep] = [percentile(took.first, 0.95), percentile(took.deep, 0.95)]
  return [
    findingOf(
      'feed_p95_ms',
      Math.max(first, deep),
      ratiosOf(windows.p95, windows.yardstick),
      workText(windows.yardstick),
      [
        `pages of ${PAGE}: the first p95 ${ms(first)}, the one after ${deepAfter.toLocaleString('en-US')} clicks ${ms(deep)}`,
      ],
    ),
    finding('feed_depth_ratio', ratioOf(windows.ratio), [
      `page ${Math.floor(deepAfter / PAGE + 1).toLocaleString('en-US')}, p50 ${ms(median(took.deep))}, compared with the first, p50 ${ms(median(took.first))}`,
    ]),
  ]
}

/** Pages like a client, and returns the cursor after `clicks` clicks. */
async function pageTo(asking: Asking, key: string, path: string, clicks: number): Promise<string> {
  let cursor: string | undefined
  for (let seen = 0; seen < clicks; ) {
    const limit = Math.min(LARGEST_PAGE, clicks - seen)
    const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { body } = await asking.ask(key, `${path}${limit}${after}`)
    const page = body as { data: unknown[]; next_cursor: string | null }
    if (page.next_cursor === null || page.data.length !== limit)
      throw new Error(`the feed ended after ${seen + page.data.length} clicks`)
    seen += limit
    cursor = page.next_cursor
  }
  return cursor ?? ''
}
