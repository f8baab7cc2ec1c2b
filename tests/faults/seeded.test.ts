import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { SEEDED, type Seeded } from './seeded.ts'

const ROOT = join(import.meta.dirname, '../..')
const APART = new Set(['.git', 'node_modules', 'data'])
const isAsked = Boolean(process.env['SLUICE_SEEDED'] ?? process.env['SLUICE_TEST_ALL'])
const TEST_LIMIT_MS = 120_000
const LIMIT_MS = 150_000

let copy: string
before(() => {
  if (!isAsked) return
  copy = mkdtempSync(join(tmpdir(), 'sluice-seeded-'))
  for (const name of readdirSync(ROOT).filter(one => !APART.has(one)))
    cpSync(join(ROOT, name), join(copy, name), { recursive: true, preserveTimestamps: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
})
after(() => {
  if (isAsked) rmSync(copy, { recursive: true, force: true })
})

type TestRun = { passed: number; failed: number; output: string }

/** Runs the named test in the copy. A test that does not end counts as failed. */
async function run({ test: file, named }: Seeded): Promise<TestRun> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const options = ['--test-reporter=tap', `--test-timeout=${TEST_LIMIT_MS}`, `--test-name-pattern=${named}`]
  const child = spawn(process.execPath, ['--test', ...options, file], {
    cwd: copy,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), LIMIT_MS)
  const [output] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  clearTimeout(timer)
  const count = (what: string) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  return { passed: count('pass'), failed: count('fail') + Number(child.exitCode !== 0), output }
}

/** Puts the fault into the copy; the returned function removes it. */
function seed({ file, changes }: Seeded): () => void {
  const path = join(copy, file)
  const sound = readFileSync(path, 'utf8')
  let faulty = sound
  for (const [from, to] of changes) {
    assert.equal(faulty.split(from).length, 2, `${file} holds exactly once: ${from}`)
    faulty = faulty.replace(from, () => to)
  }
  writeFileSync(path, faulty)
  return () => writeFileSync(path, sound)
}

describe('each of the eleven seeded faults makes a test fail that passes without it', { skip: !isAsked }, () => {
  for (const seeded of SEEDED) {
    test(seeded.fault, async t => {
      const sound = await run(seeded)
      assert.ok(sound.passed > 0 && sound.failed === 0, `without the fault ${seeded.test} fails:\n${sound.output}`)
      const heal = seed(seeded)
      const faulty = await run(seeded)
      heal()
      assert.ok(faulty.failed > 0, `${seeded.test} (${seeded.named}) does not find it`)
      t.diagnostic(`${seeded.file} → red: ${seeded.test}, “${seeded.named}”`)
    })
  }
})

test('there are eleven seeded faults, and each applies to the current source', () => {
  assert.equal(SEEDED.length, 11)
  for (const { file, changes, test: by, named } of SEEDED) {
    const source = readFileSync(join(ROOT, file), 'utf8')
    for (const [from] of changes) assert.equal(source.split(from).length, 2, `${file} holds exactly once: ${from}`)
    const line = readFileSync(join(ROOT, by), 'utf8')
      .split('\n')
      .find(one => one.includes(named))
    assert.ok(line !== undefined, `${by} has a test of “${named}”`)
    assert.ok(!line.includes('@detail'), `npm test runs “${named}”`)
  }
})
