// Compares this checkout with another one: both serve at once, and are asked in turns, so that the neighbours disturb both alike.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startLoad } from './children.ts'
import { perSecond } from './clicks.ts'
import type { Held } from './held.ts'
import type { Measured } from './load.ts'
import type { Plan } from './plan.ts'
import { medianSpent, perOne, processorSpent, type Spent, spentText, totalOf } from './processor.ts'
import { median, type Ratio, ratiosOf } from './ratio.ts'
import { Asking, windowOf } from './readings.ts'
import { ratioText } from './rows.ts'

const CONNECTIONS = 64
/** New servers and databases per checkout: two servers of the same checkout differ by up to a quarter for as long as they run. */
const INSTANCES = 4
const READINGS = 20
/**
 * In this time both servers fold their clicks into the reports. Until then a report takes up to twice as long, and the server that was clicked last
 * has more to fold.
 */
const FOLDING_MS = 5_000

type Side = 'this' | 'other'
type Open = Held & { stop(): Promise<void> }
type Window = { rate: number; p99: number; spent: Spent }
type Compared = { clicks: Record<Side, Window[]>; report: Record<Side, number[]>; feed: Record<Side, number[]> }

export type Comparison = Record<'click_rate' | 'click_processor' | 'click_p99' | 'report' | 'feed', Ratio>

/** The ratio of this checkout to the one in `dir`, with the lines that explain it. A rate above 1 and a time below 1 are better than the other's. */
export async function compareWith(
  dir: string,
  { rounds, seconds, warmSeconds }: Plan,
  tell: (line: string) => void,
): Promise<{ comparison: Comparison; lines: string[] }> {
  const load = await startLoad()
  const compared: Compared = {
    clicks: { this: [], other: [] },
    report: { this: [], other: [] },
    feed: { this: [], other: [] },
  }
  try {
    for (let instance = 0; instance < INSTANCES; instance += 1) {
      tell(`servers ${instance + 1} of ${INSTANCES} of both checkouts`)
      const open = { this: await hold(join(import.meta.dirname, '..')), other: await hold(dir) }
      try {
        const click = async (side: Side, duration: number) => {
          const window = await measureWindow(load, open[side], duration)
          if (duration === seconds) compared.clicks[side].push(window)
        }
        await inTurns(1, side => click(side, warmSeconds))
        await inTurns(Math.ceil(rounds / 2), side => click(side, seconds))
        await sleep(FOLDING_MS)
        await inTurns(READINGS, side => readOnce(open[side], compared, side))
      } finally {
        await Promise.all([open.this.stop(), open.other.stop()])
      }
    }
  } finally {
    await load.stop()
  }
  return judge(compared)
}

async function inTurns(rounds: number, measure: (side: Side) => Promise<void>): Promise<void> {
  for (let round = 0; round < rounds; round += 1)
    for (const side of round % 2 === 0 ? (['this', 'other'] as const) : (['other', 'this'] as const))
      await measure(side)
}

async function measureWindow(
  load: Awaited<ReturnType<typeof startLoad>>,
  { port, pid, dataDir, campaignKeys }: Held,
  seconds: number,
): Promise<Window> {
  const before = processorSpent(pid, dataDir)
  const recipe = { kind: 'redirects', campaignKeys } as const
  const measured: Measured = await load.ask({ port, connections: CONNECTIONS, seconds, recipe })
  if (measured.statuses[302] !== measured.answered)
    throw new Error(`not every click was redirected: ${JSON.stringify(measured.statuses)}`)
  const spent = perOne(before, processorSpent(pid, dataDir), measured.answered)
  return { rate: measured.per_second, p99: measured.p99, spent }
}

/** A report by sub1 and a page of the feed, over the clicks of the windows. */
async function readOnce(held: Held, { report, feed }: Compared, side: Side): Promise<void> {
  const asking = new Asking(held)
  const window = windowOf(Date.now())
  try {
    report[side].push((await asking.ask(held.key, `/api/v1/report?dimension=sub1&${window}`)).took)
    feed[side].push((await asking.ask(held.key, `/api/v1/clicks?limit=100&${window}`)).took)
  } finally {
    await asking.close()
  }
}

async function hold(dir: string): Promise<Open> {
  const child = fork(join(import.meta.dirname, 'held.ts'), [dir], {
    cwd: dir,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  const [held] = (await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`the server of ${dir} ended with ${code}`))),
  ])) as [Held]
  return {
    ...held,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

function judge({ clicks, report, feed }: Compared): { comparison: Comparison; lines: string[] } {
  const of = (read: (window: Window) => number): Ratio => ratiosOf(clicks.this.map(read), clicks.other.map(read))
  const comparison: Comparison = {
    click_rate: of(({ rate }) => rate),
    click_processor: of(({ spent }) => totalOf(spent)),
    click_p99: of(({ p99 }) => p99),
    report: ratiosOf(report.this, report.other),
    feed: ratiosOf(feed.this, feed.other),
  }
  const told = (side: Side) =>
    `${side}: ${perSecond(median(clicks[side].map(({ rate }) => rate)))} redirects, ${spentText(medianSpent(clicks[side].map(({ spent }) => spent)), 'click')}`
  const rows = Object.entries(comparison).map(([name, ratio]) => `${name.padEnd(18)}${ratioText(ratio)}`)
  return { comparison, lines: [...rows, told('this'), told('other')] }
}
