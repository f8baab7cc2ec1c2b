import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { runBench } from './measure.ts'
import { TINY } from './plan.ts'
import { BUDGETS, finding, median, percentile, tableOf } from './rows.ts'

const leftOver = () => readdirSync(tmpdir()).filter(name => name.startsWith(`sluice-bench-${process.pid}-`))

test('every budget is measured with its reference, in a folder that is removed afterwards', async () => {
  const findings = await runBench(TINY, () => {})
  assert.deepEqual(findings.map(({ name }) => name).toSorted(), Object.keys(BUDGETS).toSorted())
  for (const { name, value, unit, budget, pass, beside } of findings) {
    assert.ok(Number.isFinite(value) && value > 0, `${name} is ${value}`)
    assert.deepEqual({ unit, budget }, BUDGETS[name])
    assert.equal(typeof pass, 'boolean')
    assert.ok(beside.length > 0, `${name} has no reference`)
    assert.ok(tableOf(findings).includes(name))
  }
  assert.deepEqual(leftOver(), [])
})

test('a budget is met up to its limit and missed beyond it, and a missing measurement is an error', () => {
  assert.equal(finding('click_p99_ms', 25, []).pass, true)
  assert.equal(finding('click_p99_ms', 25.1, []).pass, false)
  assert.equal(finding('conversion_ratio', 0.2, []).pass, true)
  assert.equal(finding('conversion_ratio', 0.199, []).pass, false)
  assert.equal(finding('memory_mb', 200, [], false).pass, false)
  assert.throws(() => finding('start_ms', Number.NaN, []), /start_ms could not be measured/)
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
    assert.match(error.stderr ?? '', /no part "clicks"[^]*click,conversion,report,feed,explore,mcp,memory,start/)
    return true
  })
})
