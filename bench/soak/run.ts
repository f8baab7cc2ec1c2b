// A whole soak: sets the stage, runs the load and the errands for the time, takes a point in each window, closes the books and judges.
import { setTimeout as sleep } from 'node:timers/promises'
import { startTraffic } from '../children.ts'
import { type Books, closeBooks } from './books.ts'
import { beginErrands, type Errands } from './errands.ts'
import { figuresOf } from './figures.ts'
import { setStage, type Stage } from './stage.ts'
import { type SoakTerms, windowSeconds } from './terms.ts'
import type { TrafficAnswer } from './traffic.ts'
import {
  judgeAnswers,
  judgeBooks,
  judgeErrands,
  judgeHandles,
  judgeLatency,
  judgeMemory,
  judgePartitions,
  judgeQueue,
  judgeVacuum,
  type Verdict,
} from './verdicts.ts'
import {
  type Memory,
  medianMemory,
  paceOf,
  processorsBetween,
  readMemory,
  readStanding,
  readUsed,
  type SoakPoint,
} from './watch.ts'

/** `books` are lines that say what was compared and measured, `broken` why the run ended before its time. `output` is the server's last output. */
export type Soaked = { points: SoakPoint[]; verdicts: Verdict[]; books: string[]; broken?: string; output: string }

type Traffic = Awaited<ReturnType<typeof startTraffic>>
type Tell = (line: string) => void
/** The longest time between two readings of memory. */
const READING_MS = 10_000

/** Runs a soak in a folder of its own and removes it. A signal ends the load early. @throws if it cannot begin */
export async function runSoak(terms: SoakTerms, tell: Tell, signal = new AbortController().signal): Promise<Soaked> {
  await using open = new AsyncDisposableStack()
  tell('starting Sluice, its PostgreSQL, the receivers and the fakes')
  const stage = await setStage(open, terms)
  const traffic = await startTraffic()
  open.defer(() => traffic.stop())
  const { organization, server } = stage
  const { clicks, conversions } = terms
  await traffic.ask({
    begin: { port: server.port, clicks, conversions, campaignKeys: organization.campaignKeys, key: organization.key },
  })
  const errands = await beginErrands(stage, terms)
  open.defer(() => errands.end())
  tell(`${clicks} clicks and ${conversions} conversions a second for ${minutesText(terms.minutes)}`)
  const points: SoakPoint[] = []
  try {
    await takePoints({ stage, traffic, errands, points }, { ...terms, tell, signal })
    await errands.end()
    const rest = await traffic.ask('end')
    tell('the load has ended; waiting until all is stored, folded, sealed and delivered')
    const books = await closeBooks(stage, rest, errands)
    const verdicts = await judgeAll({ stage, points, errands }, rest, books)
    return { points, verdicts, books: [...books.lines, ...figuresOf(points)], output: server.output() }
  } catch (error) {
    const broken = error instanceof Error ? error.message : String(error)
    return {
      points,
      verdicts: [{ name: 'the run', holds: false, words: broken }],
      books: [],
      broken,
      output: server.output(),
    }
  }
}

const minutesText = (minutes: number): string =>
  minutes < 2 ? `${Math.round(minutes * 60)} seconds` : `${Number(minutes.toFixed(1))} minutes`

type Running = { stage: Stage; traffic: Traffic; errands: Errands; points: SoakPoint[] }

async function takePoints(
  { stage, traffic, errands, points }: Running,
  { tell, signal, ...terms }: SoakTerms & { tell: Tell; signal: AbortSignal },
) {
  const { server, ground } = stage
  const window_ms = windowSeconds(terms) * 1000
  const count = Math.round((terms.minutes * 60_000) / window_ms)
  // What the errands took before the load was steady belongs to no window.
  await traffic.ask('take')
  const begun = performance.now()
  let used = readUsed(stage)
  while (points.length < count) {
    const readings: Memory[] = []
    const until = begun + (points.length + 1) * window_ms
    do {
      await sleep(Math.max(0, Math.min(READING_MS, until - performance.now())), undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      readings.push(readMemory(server.pid, ground.dataDir))
    } while (performance.now() < until)
    const { redirects, conversions } = await traffic.ask('take')
    const before = used
    used = readUsed(stage)
    points.push({
      at_s: Math.round((used.at - begun) / 100) / 10,
      memory_mb: medianMemory(readings),
      redirects: paceOf(redirects),
      conversions: paceOf(conversions),
      processors: processorsBetween(before, used),
      asked_ms: errands.take(),
      ...(await readStanding(stage)),
    })
    if (points.length % Math.ceil(count / 24) === 0) tell(progressText(points.at(-1)))
  }
}

function progressText(point: SoakPoint | undefined): string {
  if (point === undefined) return ''
  const { memory_mb, redirects, conversions, deliveries_waiting } = point
  const memory = Object.entries(memory_mb).map(([name, mb]) => `${name} ${mb.toFixed(0)}`)
  return `${memory.join(', ')} MB; p99 ${redirects.p99.toFixed(1)} and ${conversions.p99.toFixed(1)} ms; ${deliveries_waiting} deliveries wait`
}

async function judgeAll(
  { stage, points, errands }: Omit<Running, 'traffic'>,
  rest: TrafficAnswer,
  books: Books,
): Promise<Verdict[]> {
  const { rows: partitions } = await stage.ground.database.worker.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where c.relkind = 'r' and i.inhparent in ('clicks'::regclass, 'history'::regclass) order by c.relname`,
  )
  const names = partitions.map(({ name }) => name)
  const { rows } = await stage.ground.database.worker.query<{ strays: number }>(
    `select (select count(*)::int from clicks_default) + (select count(*)::int from history_default) as strays`,
  )
  const monthly = names.filter(name => !name.endsWith('_default'))
  return [
    judgeAnswers(points, rest.strange),
    judgeBooks(books),
    judgeErrands(errands.faults),
    ...Object.keys(points.at(-1)?.memory_mb ?? {}).map(name => judgeMemory(points, name)),
    judgeLatency(points, 'redirects'),
    judgeLatency(points, 'conversions'),
    judgeHandles(points),
    judgeQueue(points, 'unfolded'),
    judgeQueue(points, 'unsealed'),
    judgeVacuum(points),
    judgePartitions(monthly, rows[0]?.strays ?? Number.NaN, new Date()),
  ]
}
