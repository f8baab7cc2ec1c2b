// Background work slows down as the machine becomes busier.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { openPace } from './pace.ts'

test('work rests at least as long as it took, at most fifty times as long or as it says, and not at all once it is aborted', async () => {
  const pace = openPace()
  const spinning = Array.from(
    { length: availableParallelism() },
    () => new Worker("require('node:worker_threads').parentPort.postMessage('on'); for (;;);", { eval: true }),
  )
  try {
    await Promise.all(spinning.map(one => once(one, 'message')))
    const began = performance.now()
    while (performance.now() - began < 40);
    const rested = performance.now()
    await pace.rest(began)
    const [took, rest] = [rested - began, performance.now() - rested]
    assert.ok(rest >= 4 * took, `${rest} ms after ${took} ms on a machine that has nothing left`)
    const hurried = performance.now()
    while (performance.now() - hurried < 40);
    await pace.rest(hurried, undefined, 1)
    assert.ok(performance.now() - hurried < (took + rest) / 2, 'work that must not fall behind rests less')
    const over = AbortSignal.abort()
    await pace.rest(performance.now() - 60_000, over)
  } finally {
    await Promise.all(spinning.map(one => one.terminate()))
  }
})
