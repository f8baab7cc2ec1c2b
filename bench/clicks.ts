// The redirect: durable clicks compared with the same Fastify that answers a bare 302; clicks with a cost, and clicks to a
// channel, compared with plain ones; and the latency at half of the full load.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Child, startLoad } from './children.ts'
import type { Measured } from './load.ts'
import type { Organization } from './organizations.ts'
import type { Plan } from './plan.ts'
import { type Finding, finding, median } from './rows.ts'

/** Real visitors have separate connections, so a server under load has many. The reference is as fast with 32. */
const CONNECTIONS = 64

const KINDS = ['plain', 'costing', 'channel'] as const
type Kind = (typeof KINDS)[number]
type Turn = Record<Kind, Measured>

/** Per round: many short turns, because other load on the machine changes by the second. */
const TURNS = 3

/** Measures the kinds one after another, each first equally often, because later ones suffer from unwritten pages of earlier ones. */
async function inTurn(turn: number, measure: (kind: Kind) => Promise<Measured>): Promise<Turn> {
  const measured: Partial<Turn> = {}
  for (let at = 0; at < KINDS.length; at += 1) {
    const kind = KINDS[(turn + at) % KINDS.length] ?? 'plain'
    measured[kind] = await measure(kind)
  }
  return measured as Turn
}

const ratioOf = (turns: readonly Turn[], kind: Kind): number =>
  median(turns.map(turn => turn[kind].per_second / turn.plain.per_second))
const rateOf = (turns: readonly Turn[], kind: Kind): number => median(turns.map(turn => turn[kind].per_second))

type ClickTools = { load: Awaited<ReturnType<typeof startLoad>>; bare: Child; pool: pg.Pool }

export async function measureClicks(
  { load, bare, pool }: ClickTools,
  server: Child,
  { large, costing, channel }: Record<'large' | 'costing' | 'channel', Organization>,
  { rounds, seconds, warmSeconds, halfSeconds }: Plan,
): Promise<Finding[]> {
  const redirects = async (
    port: number,
    seconds: number,
    { of = large, rate }: { of?: Organization; rate?: number } = {},
  ): Promise<Measured> => {
    const recipe = { kind: 'redirects', campaignKeys: of.campaignKeys } as const
    const measured = await load.ask({
      port,
      connections: CONNECTIONS,
      seconds,
      recipe,
      ...(rate === undefined ? {} : { rate }),
    })
    if (measured.statuses[302] !== measured.answered)
      throw new Error(`not every click was redirected: ${JSON.stringify(measured.statuses)}`)
    return measured
  }
  const kinds = { plain: large, costing, channel }
  const before = await countClicks(pool, [large, costing, channel])
  const clicks = [await redirects(server.port, warmSeconds)]
  await redirects(bare.port, warmSeconds)
  const yardstick: number[] = []
  const turns: Turn[] = []
  for (let round = 0; round < rounds; round += 1) {
    yardstick.push((await redirects(bare.port, seconds)).per_second)
    clicks.push(await redirects(server.port, seconds))
    for (let turn = 0; turn < TURNS; turn += 1)
      turns.push(await inTurn(turn, kind => redirects(server.port, seconds / TURNS, { of: kinds[kind] })))
  }
  const measured = clicks.slice(1)
  const rate = median(measured.map(({ per_second }) => per_second))
  // So that unwritten pages of the full load do not slow down the half load.
  await pool.query('checkpoint')
  const half = await redirects(server.port, halfSeconds, { rate: rate / 2 })
  const inTurns = turns.flatMap(turn => KINDS.map(kind => turn[kind]))
  const answered = [...clicks, ...inTurns, half].reduce((sum, one) => sum + one.answered, 0)
  const stored = await storedAfterwards(pool, [large, costing, channel], before, answered)
  if (stored !== answered) throw new Error(`${answered} clicks were redirected, ${stored} are stored`)
  return [
    finding('click_redirect_ratio', median(measured.map(({ per_second }, at) => per_second / (yardstick[at] ?? NaN))), [
      `${perSecond(rate)} durable redirects; reference: ${perSecond(median(yardstick))} bare 302 of the same Fastify, ${CONNECTIONS} connections`,
      `p50 ${ms(median(measured.map(({ p50 }) => p50)))}, p99 ${ms(median(measured.map(({ p99 }) => p99)))} at full load; all ${answered} clicks are in the database`,
    ]),
    finding('click_cost_ratio', ratioOf(turns, 'costing'), [
      `${perSecond(rateOf(turns, 'costing'))} with a cost per click, ${perSecond(rateOf(turns, 'plain'))} without, in turns`,
    ]),
    channelFinding(turns, await countGrants(pool, channel)),
    finding('click_p99_ms', half.p99, [
      `at ${perSecond(rate / 2)} for ${halfSeconds} s, evenly spaced; p50 ${ms(half.p50)}, p95 ${ms(half.p95)}`,
    ]),
  ]
}

/** The most that a link may add to the p99 of clicks. */
const MOST_LATER_MS = 2

function channelFinding(turns: readonly Turn[], grants: Grants): Finding {
  const given = grants.own + grants.shared
  const answered = turns.reduce((sum, { channel }) => sum + channel.answered, 0)
  if (given !== answered) throw new Error(`${answered} clicks were sent to a channel, ${given} have a link`)
  const later = median(turns.map(({ channel, plain }) => channel.p99 - plain.p99))
  return finding(
    'channel_redirect_ratio',
    ratioOf(turns, 'channel'),
    [
      `${perSecond(rateOf(turns, 'channel'))} with an invite link per click (${grants.own} of ${answered} got one), ${perSecond(rateOf(turns, 'plain'))} without, in turns; p99 ${later.toFixed(2)} ms later`,
    ],
    later <= MOST_LATER_MS,
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
