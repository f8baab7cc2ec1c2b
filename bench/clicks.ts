// The redirect: durable clicks compared with the same Fastify that answers a bare 302; clicks with a cost, and clicks to a
// channel, compared with plain ones; and the latency at half of the full load.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Child, startLoad } from './children.ts'
import type { Measured } from './load.ts'
import type { Organization } from './organizations.ts'
import type { Plan } from './plan.ts'
import { perOne, processorSpent, spentText } from './processor.ts'
import { median, ratiosOf } from './ratio.ts'
import { type Finding, finding, findingOf } from './rows.ts'
import { work, workText } from './yardsticks.ts'

/** Real visitors have separate connections, so a server under load has many. The reference is as fast with 32. */
const CONNECTIONS = 64

const KINDS = ['bare', 'plain', 'costing', 'channel'] as const
type Kind = (typeof KINDS)[number]
/** What was measured in each window. */
type Windows = Record<Kind, Measured[]>

type ClickTools = { load: Awaited<ReturnType<typeof startLoad>>; bare: Child; pool: pg.Pool; dataDir: string }
type Organizations = Record<'large' | 'costing' | 'channel', Organization>

export async function measureClicks(
  { load, bare, pool, dataDir }: ClickTools,
  server: Child,
  { large, costing, channel }: Organizations,
  { rounds, seconds, warmSeconds, halfSeconds }: Plan,
): Promise<Finding[]> {
  const of = { bare: large, plain: large, costing, channel }
  const redirects = async (kind: Kind, seconds: number, rate?: number): Promise<Measured> => {
    const measured = await load.ask({
      port: kind === 'bare' ? bare.port : server.port,
      connections: CONNECTIONS,
      seconds,
      recipe: { kind: 'redirects', campaignKeys: of[kind].campaignKeys },
      ...(rate === undefined ? {} : { rate }),
    })
    if (measured.statuses[302] !== measured.answered)
      throw new Error(`not every click was redirected: ${JSON.stringify(measured.statuses)}`)
    return measured
  }
  const organizations = [large, costing, channel]
  const before = await countClicks(pool, organizations)
  const warm = [await redirects('plain', warmSeconds)]
  await redirects('bare', warmSeconds)
  const spentBefore = processorSpent(server.pid, dataDir)
  const windows = await inTurns(rounds, kind => redirects(kind, seconds))
  const ours = [windows.plain, windows.costing, windows.channel].flat()
  const spent = perOne(spentBefore, processorSpent(server.pid, dataDir), answeredIn(ours))
  const rate = rateOf(windows, 'plain')
  // So that unwritten pages of the full load do not slow down the half load.
  await pool.query('checkpoint')
  const half = await inWindows(rounds, () => redirects('plain', halfSeconds, rate / 2))
  const answered = answeredIn([...warm, ...ours, ...half.measured])
  const stored = await storedAfterwards(pool, organizations, before, answered)
  if (stored !== answered) throw new Error(`${answered} clicks were redirected, ${stored} are stored`)
  return [
    finding('click_redirect_ratio', ratioTo(windows, 'plain', 'bare'), [
      `${perSecond(rate)} durable redirects; reference: ${perSecond(rateOf(windows, 'bare'))} bare 302 of the same Fastify, ${CONNECTIONS} connections`,
      `p50 ${ms(median(windows.plain.map(({ p50 }) => p50)))}, p99 ${ms(median(windows.plain.map(({ p99 }) => p99)))} at full load; all ${answered} clicks are in the database`,
      `${spentText(spent, 'click')}, on average of the three kinds`,
    ]),
    finding('click_cost_ratio', ratioTo(windows, 'costing', 'plain'), [
      `${perSecond(rateOf(windows, 'costing'))} with a cost per click, ${perSecond(rateOf(windows, 'plain'))} without`,
    ]),
    channelFinding(windows, await countGrants(pool, channel)),
    judgeHalf(half, rate, halfSeconds),
  ]
}

/** Windows of all kinds in turns, each kind first equally often, because later ones suffer from unwritten pages of earlier ones. */
async function inTurns(rounds: number, measure: (kind: Kind) => Promise<Measured>): Promise<Windows> {
  const windows: Windows = { bare: [], plain: [], costing: [], channel: [] }
  for (let round = 0; round < rounds; round += 1)
    for (let at = 0; at < KINDS.length; at += 1) {
      const kind = KINDS[(round + at) % KINDS.length] ?? 'plain'
      windows[kind].push(await measure(kind))
    }
  return windows
}

type HalfLoad = { measured: Measured[]; yardstick: number[] }

/** Windows of load, each between two measurements of the yardstick. */
async function inWindows(rounds: number, measure: () => Promise<Measured>): Promise<HalfLoad> {
  const half: HalfLoad = { measured: [], yardstick: [] }
  for (let before = work(); half.measured.length < rounds; ) {
    half.measured.push(await measure())
    const after = work()
    half.yardstick.push((before + after) / 2)
    before = after
  }
  return half
}

function judgeHalf({ measured, yardstick }: HalfLoad, rate: number, seconds: number): Finding {
  const p99s = measured.map(({ p99 }) => p99)
  const [p50, p95] = [median(measured.map(({ p50 }) => p50)), median(measured.map(({ p95 }) => p95))]
  return findingOf('click_p99_ms', median(p99s), ratiosOf(p99s, yardstick), workText(yardstick), [
    `at ${perSecond(rate / 2)} in windows of ${seconds} s, evenly spaced; p50 ${ms(p50)}, p95 ${ms(p95)}, the worst p99 ${ms(Math.max(...p99s))}`,
  ])
}

const ratioTo = (windows: Windows, kind: Kind, reference: Kind) =>
  ratiosOf(
    windows[kind].map(({ per_second }) => per_second),
    windows[reference].map(({ per_second }) => per_second),
  )
const rateOf = (windows: Windows, kind: Kind): number => median(windows[kind].map(({ per_second }) => per_second))
const answeredIn = (measured: readonly Measured[]): number => measured.reduce((sum, one) => sum + one.answered, 0)

/** The most times that the p99 of clicks with a link may be that of plain ones. */
const MOST_TIMES = 1.1

function channelFinding(windows: Windows, grants: Grants): Finding {
  const given = grants.own + grants.shared
  const answered = answeredIn(windows.channel)
  if (given !== answered) throw new Error(`${answered} clicks were sent to a channel, ${given} have a link`)
  const p99 = ratiosOf(
    windows.channel.map(one => one.p99),
    windows.plain.map(one => one.p99),
  )
  return finding(
    'channel_redirect_ratio',
    ratioTo(windows, 'channel', 'plain'),
    [
      `${perSecond(rateOf(windows, 'channel'))} with an invite link per click (${grants.own} of ${answered} got one), ${perSecond(rateOf(windows, 'plain'))} without; p99 ${p99.median.toFixed(2)} times that without (${p99.low.toFixed(2)} to ${p99.high.toFixed(2)})`,
    ],
    { holds: p99.low <= MOST_TIMES, otherwise: `the p99 is more than ${MOST_TIMES} times that without` },
  )
}

type Grants = { own: number; shared: number }

async function countGrants(pool: pg.Pool, { org_id }: Organization): Promise<Grants> {
  const { rows } = await pool.query<Grants>(
    `select (select count(*)::int from clicks where org_id = $1 and link_id is not null) as own,
      (select count(*)::int from shared_grants where org_id = $1) as shared`,
    [org_id],
  )
  return rows[0] ?? { own: 0, shared: 0 }
}

async function countClicks(pool: pg.Pool, organizations: readonly Organization[]): Promise<number> {
  let count = 0
  for (const { org_id } of organizations) {
    const text = 'select count(*)::int as count from clicks where org_id = $1'
    count += (await pool.query<{ count: number }>(text, [org_id])).rows[0]?.count ?? 0
  }
  return count
}

/** If the database is too slow, clicks wait in the journal for a while. */
const JOURNAL_MS = 60_000

async function storedAfterwards(pool: pg.Pool, of: readonly Organization[], before: number, all: number) {
  for (const deadline = performance.now() + JOURNAL_MS; ; await sleep(200)) {
    const stored = (await countClicks(pool, of)) - before
    if (stored >= all || performance.now() > deadline) return stored
  }
}

export const perSecond = (value: number): string => `${Math.round(value).toLocaleString('en-US')}/s`
export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`
