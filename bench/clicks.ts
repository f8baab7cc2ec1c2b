// The redirect: durable clicks against the same Fastify that answers a bare 302, those that cost something or lead into a
// channel against those that do neither, and their latency at half of that load.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Child, startLoad } from './children.ts'
import type { Measured } from './load.ts'
import type { Organization } from './organizations.ts'
import type { Plan } from './plan.ts'
import { type Finding, finding, median } from './rows.ts'

/** Each visitor comes over a connection of their own, so a service under load has many; the yardstick is as fast with 32. */
const CONNECTIONS = 64

const KINDS = ['plain', 'costing', 'channel'] as const
type Kind = (typeof KINDS)[number]
type Turn = Record<Kind, Measured>

/** In each round: short and many, because what the machine does besides changes by the second. */
const TURNS = 3

/** One after another, each first as often as the others: who comes later finds more of what the others have left to be written. */
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

type Loaded = { load: Awaited<ReturnType<typeof startLoad>>; bare: Child; pool: pg.Pool }

export async function measureClicks(
  { load, bare, pool }: Loaded,
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
  // What full load has left to be written is not to weigh on half of it.
  await pool.query('checkpoint')
  const half = await redirects(server.port, halfSeconds, { rate: rate / 2 })
  const inTurns = turns.flatMap(turn => KINDS.map(kind => turn[kind]))
  const answered = [...clicks, ...inTurns, half].reduce((sum, one) => sum + one.answered, 0)
  const stored = await storedAfterwards(pool, [large, costing, channel], before, answered)
  if (stored !== answered) throw new Error(`${answered} clicks were redirected, ${stored} are stored`)
  return [
    finding('click_redirect_ratio', median(measured.map(({ per_second }, at) => per_second / (yardstick[at] ?? NaN))), [
      `${perSecond(rate)} durable redirects beside ${perSecond(median(yardstick))} bare 302 of the same Fastify, ${CONNECTIONS} connections`,
      `p50 ${ms(median(measured.map(({ p50 }) => p50)))}, p99 ${ms(median(measured.map(({ p99 }) => p99)))} at full load; all ${answered} clicks are in the database`,
    ]),
    finding('click_cost_ratio', ratioOf(turns, 'costing'), [
      `${perSecond(rateOf(turns, 'costing'))} where each click has a cost beside ${perSecond(rateOf(turns, 'plain'))} where none has, in turns`,
    ]),
    channelFinding(turns, await countGrants(pool, channel)),
    finding('click_p99_ms', half.p99, [
      `at ${perSecond(rate / 2)} for ${halfSeconds} s, evenly due; p50 ${ms(half.p50)}, p95 ${ms(half.p95)}`,
    ]),
  ]
}

/** Most that a link may add to the slowest of a hundred clicks. */
const MOST_LATER_MS = 2

function channelFinding(turns: readonly Turn[], grants: Grants): Finding {
  const given = grants.own + grants.shared
  const answered = turns.reduce((sum, { channel }) => sum + channel.answered, 0)
  if (given !== answered) throw new Error(`${answered} clicks were led into a channel, ${given} have a link`)
  const later = median(turns.map(({ channel, plain }) => channel.p99 - plain.p99))
  return finding(
    'channel_redirect_ratio',
    ratioOf(turns, 'channel'),
    [
      `${perSecond(rateOf(turns, 'channel'))} where each click gets an invite link of its own beside ${perSecond(rateOf(turns, 'plain'))} in turns, ${grants.own} of ${answered} did; p99 ${later.toFixed(2)} ms later`,
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

/** Clicks that the database was too slow for wait in the journal for a while. */
const JOURNAL_MS = 60_000

async function storedAfterwards(pool: pg.Pool, of: readonly Organization[], before: number, all: number) {
  for (const deadline = performance.now() + JOURNAL_MS; ; await sleep(200)) {
    const stored = (await countClicks(pool, of)) - before
    if (stored >= all || performance.now() > deadline) return stored
  }
}

export const perSecond = (value: number): string => `${Math.round(value).toLocaleString('en-US')}/s`
export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`
