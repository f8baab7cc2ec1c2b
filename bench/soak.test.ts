import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { newId } from '../src/contract/ids.ts'
import { type Books, requireSame } from './soak/books.ts'
import { drawSoak } from './soak/drawing.ts'
import { addId, noIds } from './soak/id-sum.ts'
import { runSoak } from './soak/run.ts'
import { SHORT_SOAK } from './soak/terms.ts'
import {
  judgeAnswers,
  judgeHandles,
  judgeLatency,
  judgeMemory,
  judgePartitions,
  judgeQueue,
  judgeVacuum,
} from './soak/verdicts.ts'
import type { SoakPoint } from './soak/watch.ts'

const HOURS = 8
const COUNT = 240

const pace = { answered: 600, per_second: 15, statuses: { 201: 600 }, p50: 3, p99: 10 }
const STEADY: Omit<SoakPoint, 'at_s'> = {
  memory_mb: { sluice: 250 },
  redirects: { ...pace, statuses: { 302: 600 } },
  conversions: pace,
  processors: { sluice: 0.3, children: 0.1, postgres: 0.2, machine: 0.9 },
  handles: 60,
  database_mb: 100,
  data_dir_mb: 64,
  deliveries_waiting: 10,
  unfolded: 10,
  unsealed: 10,
  asked_ms: { report: 5, feed: 5, explore: 20 },
  tables: { balances: { dead: 500, live: 4, vacuums: 400 } },
}

/** The points of a run; `change` gets the part of the run that has passed. Memory swings by some megabytes, as a heap does. */
const pointsOf = (change: (part: number) => Partial<SoakPoint>, hours = HOURS): SoakPoint[] =>
  Array.from({ length: COUNT }, (_, at) => ({
    ...STEADY,
    at_s: ((at + 1) / COUNT) * hours * 3600,
    memory_mb: { sluice: swinging(250, at) },
    ...change((at + 1) / COUNT),
  }))
const swinging = (size: number, at: number) => size + 8 * Math.sin(at * 2.4)
const rising = (from: number, an_hour: number, hours = HOURS) =>
  pointsOf(
    part => ({ memory_mb: { sluice: swinging(from + part * hours * an_hour, Math.round(part * COUNT)) } }),
    hours,
  )

test('memory fails if it certainly grows by more than 5 MB an hour and 5 % of its size', () => {
  assert.equal(
    judgeMemory(
      pointsOf(() => ({})),
      'sluice',
    ).holds,
    true,
  )
  assert.equal(judgeMemory(rising(250, 8), 'sluice').holds, false)
  assert.equal(judgeMemory(rising(250, 4), 'sluice').holds, true)
  assert.equal(judgeMemory(rising(4000, 8), 'sluice').holds, true, 'less than 5 % of the size')
  const warming = pointsOf(part => ({ memory_mb: { sluice: 250 + 100 * Math.min(part, 0.4) } }))
  assert.equal(judgeMemory(warming, 'sluice').holds, true, 'caches fill in the first half')
  assert.equal(judgeMemory(rising(250, 300, 0.1), 'sluice').holds, null, 'six minutes are too short')
})

test('latency fails if the p99 of the last quarter is more than 1.5 times that of the second', () => {
  const slower = (times: number) =>
    pointsOf(part => ({ redirects: { ...STEADY.redirects, p99: part > 0.75 ? 10 * times : 10 } }))
  assert.equal(judgeLatency(slower(1.4), 'redirects').holds, true)
  assert.equal(judgeLatency(slower(1.6), 'redirects').holds, false)
  assert.equal(judgeLatency(slower(1.6), 'conversions').holds, true)
})

test('a queue of unsealed changes fails if it grows beyond a minute of clicks', () => {
  const queue = (sheets: number) =>
    judgeQueue(
      pointsOf(part => ({ unsealed: Math.round(part * sheets) })),
      'unsealed',
    )
  assert.equal(queue(800).holds, true, 'less than a minute')
  assert.equal(queue(80_000).holds, false)
  assert.equal(
    judgeQueue(
      pointsOf(() => ({ unsealed: 80_000 })),
      'unsealed',
    ).holds,
    true,
    'it does not grow',
  )
})

test('open files, dead rows, missing partitions and wrong answers fail', () => {
  const opening = (more: number) => pointsOf(part => ({ handles: 60 + Math.round(part * more) }))
  assert.equal(judgeHandles(opening(10)).holds, true)
  assert.equal(judgeHandles(opening(40)).holds, false)
  const dead = (rows: number, live: number) =>
    judgeVacuum(pointsOf(() => ({ tables: { deliveries: { dead: rows, live, vacuums: 0 } } })))
  assert.equal(dead(90_000, 0).holds, true)
  assert.equal(dead(300_000, 1_000_000).holds, true)
  assert.equal(dead(500_000, 1_000_000).holds, false)
  const now = new Date('2026-12-31T23:00:00Z')
  assert.equal(judgePartitions(['clicks_2026_12', 'clicks_2027_01'], 0, now).holds, true)
  assert.equal(judgePartitions(['clicks_2026_12', 'clicks_2027_01'], 1, now).holds, false)
  assert.equal(judgePartitions(['clicks_2026_12'], 0, now).holds, false)
  assert.equal(
    judgeAnswers(
      pointsOf(() => ({})),
      null,
    ).holds,
    true,
  )
  const refused = pointsOf(part => ({ conversions: part === 1 ? { ...pace, statuses: { 201: 599, 503: 1 } } : pace }))
  assert.equal(judgeAnswers(refused, null).holds, false)
  assert.equal(
    judgeAnswers(
      pointsOf(() => ({})),
      'HTTP/1.1 503',
    ).holds,
    false,
  )
})

test('a lost id, a repeated one and another one in its place are found without keeping any', () => {
  const ids = Array.from({ length: 1000 }, () => newId())
  const sumOf = (list: readonly string[]) => {
    const sum = noIds()
    for (const id of list) addId(sum, id)
    return sum
  }
  const compare = (list: readonly string[]) => {
    const books: Books = { wrong: [], lines: [] }
    requireSame(books, 'answered', sumOf(ids), 'stored', sumOf(list))
    return books.wrong
  }
  assert.deepEqual(compare(ids.toReversed()), [])
  assert.match(compare(ids.slice(1))[0] ?? '', /1000 answered, 999 stored/)
  assert.match(compare([...ids, ids[0] ?? ''])[0] ?? '', /1001 stored/)
  assert.match(compare([...ids.slice(1), ids[1] ?? ''])[0] ?? '', /not the same ones/)
})

test('the curves of a long run are a small picture', () => {
  const unanswered = { ...STEADY.redirects, answered: 0, p99: Number.NaN }
  const svg = drawSoak(rising(250, 8).map((point, at) => (at < 9 ? { ...point, redirects: unanswered } : point)))
  assert.ok(svg.length < 15_000, `${svg.length} bytes`)
  assert.match(svg, /Memory by process[^]*p99[^]*8 h/)
  assert.doesNotMatch(svg, /NaN|undefined|Infinity/)
})

test('a rate that is no number is refused', async () => {
  const run = promisify(execFile)(process.execPath, [join(import.meta.dirname, 'soak/soak.ts'), '--clicks', 'many'])
  await assert.rejects(run, (error: { code?: number; stderr?: string }) => {
    assert.equal(error.code, 2)
    assert.match(error.stderr ?? '', /--clicks must be a number above 0[^]*--minutes/)
    return true
  })
})

test('a soak of some seconds has exact books and a figure for everything in each point @detail', async () => {
  const { points, verdicts, books, broken, output } = await runSoak(SHORT_SOAK, () => {})
  assert.equal(broken, undefined, output)
  const failed = verdicts.filter(({ holds }) => holds === false)
  assert.deepEqual(failed, [], books.join('\n'))
  assert.equal(verdicts.find(({ name }) => name === 'books')?.words, 'exact')
  assert.equal(points.length, 4)
  for (const point of points) {
    assert.deepEqual(Object.keys(point).toSorted(), ['at_s', ...Object.keys(STEADY)].toSorted())
    for (const name of ['sluice', 'scanning', 'postgres']) assert.ok((point.memory_mb[name] ?? 0) > 0, name)
    assert.ok(point.handles > 0 && point.database_mb > 0 && point.data_dir_mb > 0)
    assert.ok(point.processors.sluice > 0 && point.processors.postgres > 0 && point.processors.machine > 0)
    for (const [name, ms] of Object.entries(point.asked_ms)) assert.ok(ms > 0, name)
    for (const kind of ['redirects', 'conversions'] as const)
      assert.ok(point[kind].answered === 0 || (point[kind].p50 > 0 && point[kind].p99 >= point[kind].p50), kind)
  }
  assert.ok(points.some(({ conversions }) => conversions.answered > 0))
  assert.ok(Object.keys(points.at(-1)?.tables ?? {}).length > 0)
  assert.deepEqual(
    readdirSync(tmpdir()).filter(name => name.startsWith(`sluice-bench-${process.pid}-`)),
    [],
  )
})

test('Ctrl-C, which reaches all processes of the terminal, ends a soak early with exact books and no folder left @detail', async () => {
  const file = join(import.meta.dirname, 'soak/soak.ts')
  const soak = spawn(process.execPath, [file, '--minutes', '5', '--clicks', '30', '--conversions', '5'], {
    detached: true,
  })
  const closed = once(soak, 'close')
  const said = text(soak.stdout)
  for await (const line of createInterface(soak.stderr)) {
    if (!line.includes('conversions a second')) continue
    process.kill(-(soak.pid ?? 0), 'SIGINT')
    break
  }
  soak.stderr.resume()
  const [code] = await closed
  assert.match(await said, /holds {2}books +exact/)
  assert.equal(code, 0, await said)
  assert.deepEqual(
    readdirSync(tmpdir()).filter(name => name.startsWith(`sluice-bench-${soak.pid}-`)),
    [],
  )
})
