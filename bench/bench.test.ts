import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { compareWith } from './against.ts'
import { runBench } from './measure.ts'
import { TINY } from './plan.ts'
import { median, percentile, ratioOf } from './ratio.ts'
import { BUDGETS, finding, findingOf, tableOf } from './rows.ts'

/** The whole bench is measured in `npm run test:all`; it takes a minute of processor time. */
const IS_WHOLE = process.env['SLUICE_TEST_ALL'] === '1'
const SHORT = {
  parts: ['click', 'feed'] as const,
  rows: /^(click|channel|feed)_/,
}

const leftOver = () => readdirSync(tmpdir()).filter(name => name.startsWith(`sluice-bench-${process.pid}-`))

test('every budget is measured with its reference, in a folder that is removed afterwards', async () => {
  const plan = IS_WHOLE ? TINY : { ...TINY, parts: new Set(SHORT.parts) }
  const findings = await runBench(plan, () => {})
  const expected = Object.keys(BUDGETS).filter(name => IS_WHOLE || SHORT.rows.test(name))
  assert.deepEqual(findings.map(({ name }) => name).toSorted(), expected.toSorted())
  for (const { name, value, unit, budget, pass, beside } of findings) {
    assert.ok(Number.isFinite(value) && value > 0, `${name} is ${value}`)
    assert.equal(unit, BUDGETS[name].unit)
    assert.ok(budget.startsWith(BUDGETS[name].budget))
    assert.equal(typeof pass, 'boolean')
    assert.ok(beside.length > 0, `${name} has no reference`)
    assert.ok(tableOf(findings).includes(name))
  }
  assert.deepEqual(leftOver(), [])
})

test('a checkout compared with itself is as fast as itself', {
  skip: !IS_WHOLE && 'npm run test:all runs it',
}, async () => {
  const plan = { ...TINY, rounds: 6, seconds: 0.5 }
  const { comparison, lines } = await compareWith(join(import.meta.dirname, '..'), plan, () => {})
  for (const [name, { low, high, windows }] of Object.entries(comparison)) {
    assert.ok(low > 0 && low <= high && windows >= 12, `${name}: ${low} to ${high} in ${windows} windows`)
    assert.ok(lines.some(line => line.startsWith(name)))
  }
  assert.deepEqual(leftOver(), [])
})

test('a value is judged as it stands, a ratio by its whole interval, and a missing measurement is an error', () => {
  assert.equal(finding('memory_mb', 300, []).pass, true)
  assert.equal(finding('memory_mb', 300.1, []).pass, false)
  assert.equal(finding('memory_mb', 200, [], { holds: false, otherwise: 'it grows' }).pass, false)
  assert.match(tableOf([finding('memory_mb', 200, [], { holds: false, otherwise: 'it grows' })]), /because it grows/)
  const between = (low: number, high: number) => ({ median: (low + high) / 2, low, high, windows: 9 })
  assert.equal(finding('conversion_ratio', between(0.15, 0.2), []).pass, true)
  assert.equal(finding('conversion_ratio', between(0.15, 0.199), []).pass, false)
  const { budget } = BUDGETS.start_ms
  const limit = Number(budget.split(' ')[1])
  assert.equal(findingOf('start_ms', 1, between(limit, limit + 1), '', []).pass, true)
  assert.equal(findingOf('start_ms', 1, between(limit + 0.1, limit + 1), '', []).pass, false)
  assert.throws(() => finding('memory_mb', Number.NaN, []), /memory_mb could not be measured/)
})

test('the interval of a ratio leaves out as many windows as the sign test allows', () => {
  const windows = (count: number) => ratioOf(Array.from({ length: count }, (_, at) => at + 1))
  assert.deepEqual(windows(1), { median: 1, low: 1, high: 1, windows: 1 })
  assert.deepEqual(windows(8), { median: 4.5, low: 1, high: 8, windows: 8 })
  assert.deepEqual(windows(9), { median: 5, low: 2, high: 8, windows: 9 })
  assert.deepEqual(windows(20), { median: 10.5, low: 6, high: 15, windows: 20 })
  assert.throws(() => ratioOf([1, Number.NaN]), /could not be measured/)
})

test('medians and percentiles are those of the sorted values', () => {
  assert.equal(median([3, 1, 2]), 2)
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.equal(percentile([...Array(100).keys()].toReversed(), 0.95), 95)
})

test('an unknown part is refused with the list of parts', async () => {
  const run = promisify(execFile)(process.execPath, [join(import.meta.dirname, 'bench.ts'), '--only', 'clicks'])
  await assert.rejects(run, (error: { code?: number; stderr?: string }) => {
    assert.equal(error.code, 2)
    assert.match(error.stderr ?? '', /no part "clicks"[^]*click,visit,conversion,report,feed,explore,mcp,memory,start/)
    return true
  })
})
