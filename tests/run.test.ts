// The runner of the tests itself: it counts every test of a file, and no file holds it up.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'

const folder = mkdtempSync(join(tmpdir(), 'sluice-runner-'))
after(() => rmSync(folder, { recursive: true }))

/** Runs the files, given by their source, as the suite is run. `paused_ms`: how long the runner reads nothing of what they say. */
async function run(sources: string[], { paused_ms = 0, left_open_ms = 120_000 } = {}) {
  const files = sources.map((source, at) => {
    const file = join(folder, `${at}.test.ts`)
    writeFileSync(
      file,
      `import assert from 'node:assert/strict'\nimport { after, before, test } from 'node:test'\n${source}\n`,
    )
    return file
  })
  const script = `
    import { runNodeTests } from ${JSON.stringify(join(import.meta.dirname, 'support/node-tests.ts'))}
    const counting = runNodeTests(${JSON.stringify(files)}, ${JSON.stringify(folder)}, 60_000)
    if (${paused_ms} > 0) setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${paused_ms}), 50)
    const counts = await counting
    console.log('\\n' + JSON.stringify(counts))`
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const runner = join(folder, 'runner.ts')
  writeFileSync(runner, script)
  const child = spawn(process.execPath, [runner], {
    env: { ...env, SLUICE_LEFT_OPEN_MS: String(left_open_ms) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  assert.equal(child.exitCode, 0, complained)
  return { said, counts: JSON.parse(said.trimEnd().split('\n').at(-1) ?? '') }
}

const MANY = `for (let at = 0; at < 500; at++) test('one of very many, number ' + at, () => {})`

test('every test of a file that ends at once is counted, however late the runner hears of them', async () => {
  const { counts } = await run([MANY, MANY], { paused_ms: 1000 })
  assert.deepEqual(counts, { passed: 1000, failed: 0, skipped: 0, failures: [] })
})

test('the message of a test that fails last is not lost, and can be told again behind all others', async () => {
  const { counts, said } = await run([`${MANY}\ntest('the last', () => assert.fail('for this reason'))`], {
    paused_ms: 1000,
  })
  const { failures, ...numbers } = counts
  assert.deepEqual(numbers, { passed: 500, failed: 1, skipped: 0 })
  assert.equal(failures.length, 1)
  assert.match(failures[0], /0\.test\.ts:4 the last\n.*for this reason/)
  assert.match(said, /for this reason/)
})

test('what a failed test leaves open holds nothing up, and a file that passes has failed when it leaves something open', async () => {
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
  assert.deepEqual(numbers, { passed: 1, failed: 3, skipped: 0 })
  assert.equal(failures.length, 3)
  for (const words of [/for this reason/, /the house does not start/, /kept something open: .*TCPServerWrap/])
    assert.match(said, words)
})
