// The test runner itself: it counts every test of a file, and no file blocks it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { COSTS, readCosts } from './support/processor-time.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-runner-'))
after(() => rmSync(folder, { recursive: true }))

/** Runs files with these sources in the folder `within`, like the suite. For `paused_ms` the runner does not read their output. */
async function run(
  sources: string[],
  {
    paused_ms = 0,
    left_open_ms = 120_000,
    within = '',
    specs = [] as string[],
    env: extra = {} as Record<string, string>,
  } = {},
) {
  mkdirSync(join(folder, within), { recursive: true })
  const files = sources.map((source, at) => {
    const file = `${within}${at}.test.ts`
    writeFileSync(
      join(folder, file),
      `import assert from 'node:assert/strict'\nimport { after, before, test } from 'node:test'\n${source}\n`,
    )
    return file
  })
  const script = `
    import { runTests } from ${JSON.stringify(join(import.meta.dirname, 'support/outcome.ts'))}
    const counting = runTests(${JSON.stringify(files)}, ${JSON.stringify(specs)}, ${JSON.stringify(folder)}, 60_000)
    if (${paused_ms} > 0) setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${paused_ms}), 50)
    const counts = await counting
    console.log('\\n' + JSON.stringify({ ...counts, isBuried: undefined }))`
  const { NODE_TEST_CONTEXT: _, CI: __, [COSTS]: ___, ...env } = process.env
  const runner = join(folder, 'runner.ts')
  writeFileSync(runner, script)
  const child = spawn(process.execPath, [runner], {
    cwd: folder,
    env: { ...env, SLUICE_LEFT_OPEN_MS: String(left_open_ms), ...extra },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  assert.equal(child.exitCode, 0, complained)
  return { said, counts: JSON.parse(said.trimEnd().split('\n').at(-1) ?? '') }
}

const DEFECT = `test('does not hold', () => assert.fail('a defect'))`
const MANY = `for (let at = 0; at < 500; at++) test('one of very many, number ' + at, () => {})`

test('every test of a file that ends at once is counted, even if the runner reads the results late', async () => {
  const { counts } = await run([MANY, MANY], { paused_ms: 1000 })
  assert.deepEqual(counts, { passed: 1000, failed: 0, skipped: 0, failures: [], flaky: [] })
})

test('the message of a test that fails last is not lost, and can be repeated at the end', async () => {
  const { counts, said } = await run([`${MANY}\ntest('the last', () => assert.fail('for this reason'))`], {
    paused_ms: 1000,
  })
  const { failures, ...numbers } = counts
  assert.deepEqual(numbers, { passed: 500, failed: 1, skipped: 0, flaky: [] })
  assert.equal(failures.length, 1)
  assert.match(failures[0], /0\.test\.ts:4 the last\n.*for this reason/)
  assert.match(said, /for this reason/)
})

test('a file that leaves something open does not block the run, and fails even if its tests pass', async () => {
  const server = `import { createServer } from 'node:net'\nconst open = () => new Promise(resolve => createServer().listen(0, '127.0.0.1', resolve))`
  const { counts, said } = await run(
    [
      `${server}\ntest('fails', async () => { await open(); assert.fail('for this reason') })`,
      `${server}\nbefore(async () => { await open(); throw new Error('the house does not start') })\ntest('waits for the house', () => {})`,
      `${server}\ntest('passes', open)`,
    ],
    { left_open_ms: 500 },
  )
  const { failures, ...numbers } = counts
  assert.deepEqual(numbers, { passed: 1, failed: 3, skipped: 0, flaky: [] })
  assert.equal(failures.length, 3)
  for (const words of [/for this reason/, /the house does not start/, /kept something open: .*TCPServerWrap/])
    assert.match(said, words)
})

test('files of one wing share a process and are counted separately', async () => {
  const seen = join(folder, 'processes')
  const note = `import { appendFileSync } from 'node:fs'\nappendFileSync(${JSON.stringify(seen)}, process.pid + ' ')`
  const nested = `describe('a', () => { test('one', () => {}); test('two', { skip: true }, () => {}) })`
  const sources = [`${note}\n${MANY}`, `${note}\n${DEFECT}`, `${note}\nimport { describe } from 'node:test'\n${nested}`]
  const { counts } = await run(sources, { within: 'src/wing/room/' })
  const { failures, ...numbers } = counts
  assert.deepEqual(numbers, { passed: 501, failed: 1, skipped: 1, flaky: [] })
  assert.match(failures[0], /src\/wing\/room\/1\.test\.ts:5 does not hold/)
  const processes = readFileSync(seen, 'utf8').trim().split(' ')
  assert.deepEqual([processes.length, new Set(processes).size], [3, 1])
})

test('a test marked as a detail runs only when details are asked for, alone and in a shared process', async () => {
  const source = `test('holds', () => {})\n${DEFECT.replace('hold', 'hold @detail')}`
  for (const within of ['', 'src/wing/details/']) {
    const counts = async (asked: string) =>
      (await run([source, source], { within, env: { SLUICE_DETAILS: asked } })).counts
    const [few, each] = [await counts(''), await counts('1')]
    assert.deepEqual([few.passed, few.failed, few.skipped], [2, 0, 0])
    assert.deepEqual([each.passed, each.failed], [2, 2])
  }
})

test('when a shared process dies, keeps something open or throws outside of a test, each of its files is run alone, which shows the faulty one', async () => {
  const open = `import { createServer } from 'node:net'\ntest('passes', () => new Promise(resolve => createServer().listen(0, '127.0.0.1', resolve)))`
  const strays = `test('passes', async () => { setTimeout(() => { throw new Error('strays') }); await new Promise(done => setTimeout(done, 50)) })`
  const faults = [
    [`test('dies', () => process.exit(3))`, 2],
    [open, 3],
    [strays, 3],
  ] as const
  for (const [fault, passed] of faults) {
    const { counts, said } = await run([`test('holds', () => {})`, fault, `test('holds', () => {})`], {
      within: 'src/wing/other/',
      left_open_ms: 500,
    })
    assert.deepEqual([counts.passed, counts.failed], [passed, 1])
    assert.match(said, /✖ src\/wing\/other\/1\.test\.ts/)
  }
})

test('the cost of a file is the processor time of its process and its child processes', async () => {
  const burn = `const { user } = process.cpuUsage(); while (process.cpuUsage().user - user < 200_000);`
  const started = `import { spawnSync } from 'node:child_process'\nspawnSync(process.execPath, ['-e', ${JSON.stringify(burn)}])`
  const costs = join(folder, 'costs')
  await run([`${burn}\n${started}\ntest('holds', () => {})`, `test('holds', () => {})`], { env: { [COSTS]: costs } })
  const noted = readCosts(costs)
  assert.deepEqual([...noted.keys()].toSorted(), ['0.test.ts', '1.test.ts'])
  assert.ok((noted.get('0.test.ts') ?? 0) >= 400)
})

/** A statement that fails whenever `name` has not yet been run. */
const failsAtFirst = (name: string) => {
  const marker = JSON.stringify(join(folder, name))
  return `if (!fs.existsSync(${marker})) { fs.writeFileSync(${marker}, ''); throw new Error('an accident of ${name}') }`
}
const ACCIDENT = (name: string) =>
  `import fs from 'node:fs'\ntest('holds', () => {})\ntest('holds but once', () => { ${failsAtFirst(name)} })`

test('in CI a failed file is run once more alone: if it passes, it counts as passed and is listed', async () => {
  const { counts, said } = await run([ACCIDENT('in CI'), DEFECT, `test('holds', () => {})`], { env: { CI: 'true' } })
  const { failures, flaky, ...numbers } = counts
  assert.deepEqual(numbers, { passed: 3, failed: 1, skipped: 0 })
  assert.deepEqual(flaky, ['0.test.ts'])
  assert.equal(failures.length, 1)
  assert.match(failures[0], /a defect/)
  assert.match(said, /an accident of in CI/)
})

test('outside of CI, and if many files failed, none is run again', async () => {
  const outside = await run([ACCIDENT('outside')])
  assert.deepEqual([outside.counts.passed, outside.counts.failed, outside.counts.flaky], [1, 1, []])
  const many = await run(
    Array.from({ length: 6 }, (_, at) => ACCIDENT(`many ${at}`)),
    { env: { CI: 'true' } },
  )
  assert.deepEqual([many.counts.passed, many.counts.failed, many.counts.flaky], [6, 6, []])
})

test('browser specs are run again in the same way', async () => {
  symlinkSync(join(import.meta.dirname, '../node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'playwright.config.ts'), `export default { testDir: 'specs', outputDir: 'results' }`)
  mkdirSync(join(folder, 'specs'))
  const begin = `import fs from 'node:fs'\nimport { test } from '@playwright/test'\ntest('holds', () => {})\n`
  const accident = `test.describe('what', () => { test('holds but once', () => { ${failsAtFirst('a spec')} }) })`
  const defect = `test('does not hold', () => { throw new Error('a defect') })\ntest.skip('waits', () => {})`
  for (const [name, source] of Object.entries({ accident, defect }))
    writeFileSync(join(folder, `specs/${name}.spec.ts`), begin + source)
  const specs = ['specs/accident.spec.ts', 'specs/defect.spec.ts']
  const { counts, said } = await run([], { specs, env: { CI: 'true' } })
  assert.deepEqual(counts, { passed: 3, failed: 1, skipped: 1, failures: [], flaky: ['specs/accident.spec.ts'] })
  assert.match(said, /an accident of a spec/)
})

test('an unknown option is refused, before anything runs', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'run.ts'), '--help'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  assert.deepEqual([child.exitCode, said], [1, ''])
  assert.match(complained, /^--help is unknown\. Usage: npm test -- /)
})
