import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { type Ask, type Engine, FilesGone, openEngine } from './engine.ts'
import { readProcessorUse, wasHeldUp } from './processor-share.ts'
import { openTurns } from './turns.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-engine-'))
const log = pino({ level: 'silent' })
after(() => rmSync(folder, { recursive: true, force: true }))

/** Longer than any answer takes, even on a busy machine. */
const ENDLESS = 'select sum(a.range * b.range) from range(100000000) a, range(100000000) b'

const processOf = async (engine: Engine) =>
  engine.run(1, ask => ask("select current_setting('temp_directory') as place"))
/** Enough even where the process gets no processor for as long as a question may take. */
async function placeOf(engine: Engine) {
  for (let tries = 1; ; tries += 1) {
    const place = await processOf(engine).catch((error: unknown) => {
      if (tries === 30) throw error
    })
    if (place !== undefined) return place
  }
}
const refusedAs = (name: string) => (error: { refusal?: string }) => error.refusal === name

test('a question that takes too long is refused, its process ended, and the next one answered by another', async () => {
  const engine = openEngine(folder, log, { question_ms: 2000, readUse: () => undefined })
  const first = await placeOf(engine)
  await assert.rejects(
    engine.run(1, ask => ask(ENDLESS)),
    refusedAs('question_too_wide'),
  )
  const second = await placeOf(engine)
  assert.notDeepEqual(second, first)
  await engine.close()
})

test('a question that other processes kept from the processor is refused as busy, not as too wide', async () => {
  // The scan waits 15 ms for each 10 ms that it runs.
  const readUse = () => ({ ran_ns: performance.now() * 10, waited_ns: performance.now() * 15 })
  const engine = openEngine(folder, log, { question_ms: 2000, readUse })
  await assert.rejects(
    engine.run(1, ask => ask(ENDLESS)),
    (error: { refusal?: string; detail?: { error?: string; headers?: object } }) => {
      assert.deepEqual([error.refusal, error.detail?.error], ['explore_busy', 'the server is busy'])
      return true
    },
  )
  await engine.close()
})

test('the time for which a process waited for the processor is counted, and compared with the time it ran', () => {
  const before = readProcessorUse(process.pid)
  for (const end = performance.now() + 50; performance.now() < end; );
  const after = readProcessorUse(process.pid)
  if (before !== undefined && after !== undefined) assert.ok(after.ran_ns > before.ran_ns)
  assert.equal(readProcessorUse(0), undefined)
  const [begun, alone, crowded] = [1, 2, 3].map(n => ({ ran_ns: 10 * n, waited_ns: n === 3 ? 50 : 10 }))
  assert.deepEqual(
    [wasHeldUp(begun, alone), wasHeldUp(alone, crowded), wasHeldUp(begun, undefined)],
    [false, true, false],
  )
})

test('a question that needs too much memory is refused, and the next one answered', async () => {
  const engine = openEngine(folder, log, { question_ms: 60_000 })
  const wide = "select length(string_agg(range::varchar || repeat('x', 1000), '')) as length from range(2000000)"
  await assert.rejects(
    engine.run(1, ask => ask(wide)),
    refusedAs('question_too_wide'),
  )
  assert.deepEqual(await engine.run(1, ask => ask('select 1::integer as one')), [{ one: 1 }])
  await engine.close()
})

test('where four questions of a workspace wait, the next is refused with Retry-After, and another workspace’s is answered', async () => {
  const engine = openEngine(folder, log, { question_ms: 60_000 })
  const held = Promise.withResolvers<void>()
  const running = engine.run(1, () => held.promise)
  const waiting = [1, 2, 3, 4].map(number => engine.run(1, ask => ask(`select ${number}::integer as one`)))
  await assert.rejects(
    engine.run(1, async () => undefined),
    (error: { refusal?: string; detail?: object }) => {
      assert.deepEqual(error.detail, {
        error: '4 questions of this workspace are waiting',
        hint: 'Ask again when one of them is answered.',
        headers: { 'retry-after': '5' },
      })
      return error.refusal === 'explore_busy'
    },
  )
  const other = engine.run(2, ask => ask('select 7::integer as one'))
  held.resolve()
  await running
  assert.deepEqual(
    await Promise.all([...waiting, other]),
    [1, 2, 3, 4, 7].map(one => [{ one }]),
  )
  await engine.close()
})

test('workspaces are answered in turn, however many questions each has waiting', async () => {
  const engine = openEngine(folder, log, { question_ms: 60_000 })
  const held = Promise.withResolvers<void>()
  const order: string[] = []
  const asked = (org_id: number, name: string) => engine.run(org_id, async () => void order.push(name))
  const running = engine.run(1, () => held.promise)
  const names: [org_id: number, name: string][] = [
    [1, 'a1'],
    [1, 'a2'],
    [1, 'a3'],
    [2, 'b1'],
    [2, 'b2'],
    [3, 'c1'],
  ]
  const all = names.map(([org_id, name]) => asked(org_id, name))
  held.resolve()
  await Promise.all([running, ...all])
  assert.deepEqual(order, ['b1', 'c1', 'a1', 'b2', 'a2', 'a3'])
  await engine.close()
})

test('temporary tables of a question end with it', async () => {
  const engine = openEngine(folder, log, { question_ms: 60_000 })
  await engine.run(1, ask => ask('create temp table kept as select 1'))
  await assert.rejects(
    engine.run(2, ask => ask('select * from kept')),
    /kept does not exist/,
  )
  await engine.close()
})

test('the process reads its folder and nothing else, and its settings stay as they are', async () => {
  const engine = openEngine(folder, log, { question_ms: 60_000 })
  for (const sql of [
    "select * from read_text('/etc/hostname')",
    "copy (select 1) to '/tmp/sluice-out.csv'",
    "attach '/tmp/sluice.db'",
  ])
    await assert.rejects(
      engine.run(1, ask => ask(sql)),
      /Permission Error/,
    )
  await assert.rejects(
    engine.run(1, ask => ask('set threads = 8')),
    /locked/,
  )
  const gone = join(folder, 'd=1', 'gone.parquet')
  await assert.rejects(
    engine.run(1, ask => ask(`select * from read_parquet(['${gone}'])`)),
    FilesGone,
  )
  await engine.close()
})

test('without questions the process ends', async () => {
  const engine = openEngine(folder, log, { question_ms: 60_000, idle_ms: 1 })
  const first = await processOf(engine)
  const { setTimeout: wait } = await import('node:timers/promises')
  for (let second = first; JSON.stringify(second) === JSON.stringify(first); second = await processOf(engine))
    await wait(5)
  await engine.close()
})

test('a question that continues is its workspace’s next one, however many wait, and closing refuses waiting questions', async () => {
  const turns = openTurns()
  const ran: string[] = []
  const run = (org_id: number, name: string, goesOn?: boolean) =>
    turns.run(org_id, async () => void ran.push(name), goesOn)
  const begun = Promise.withResolvers<void>()
  const first = turns.run(1, () => begun.promise).then(() => run(1, 'first again', true))
  const others = ['second', 'third', 'fourth', 'fifth'].map(name => run(1, name))
  const neighbour = run(2, 'neighbour')
  begun.resolve()
  await Promise.all([first, neighbour, ...others])
  assert.deepEqual(ran, ['neighbour', 'first again', 'second', 'third', 'fourth', 'fifth'])
  const last = Promise.withResolvers<void>()
  const answered = turns.run(1, () => last.promise)
  const waits = assert.rejects(run(2, 'never'), { refusal: 'explore_busy' })
  turns.close()
  await waits
  last.resolve()
  await answered
  await assert.rejects(run(1, 'never'), { refusal: 'explore_busy' })
})

test('a process that was killed does not fail the next question, and writing to it harms nothing', async () => {
  const errors: string[] = []
  const engine = openEngine(folder, pino({ level: 'warn' }, { write: line => void errors.push(line) }), {
    question_ms: 300_000,
  })
  const pidOf = (ask: Ask) => (ask.process as { pid: number }).pid
  try {
    const first = await engine.run(1, async ask => {
      await ask('select 1')
      return pidOf(ask)
    })
    process.kill(first, 'SIGKILL')
    // Until the system has closed its end. Without a turn of the event loop, this process does not know yet.
    for (const end = performance.now() + 100; performance.now() < end; );
    const second = await engine.run(1, async ask => {
      assert.deepEqual(await ask('select 1 as n'), [{ n: 1 }])
      assert.deepEqual(await ask('select 2 as n'), [{ n: 2 }])
      return pidOf(ask)
    })
    assert.notEqual(second, first)
    assert.ok(!errors.some(line => line.includes('EPIPE')), errors.join(''))
  } finally {
    await engine.close()
  }
})

test('a question whose process is killed while it runs is refused as busy', async () => {
  const engine = openEngine(folder, log, { question_ms: 300_000 })
  await assert.rejects(
    engine.run(1, ask => {
      const answer = ask(ENDLESS)
      process.kill((ask.process as { pid: number }).pid, 'SIGKILL')
      return answer
    }),
    refusedAs('explore_busy'),
  )
  await engine.close()
})
