import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { getPriority } from 'node:os'
import { test } from 'node:test'
import { eventually } from '../../tests/support/eventually.ts'
import { sessionPriority } from '../../tests/support/session-priority.ts'
import { BEHIND, runBehind } from './priority.ts'

const isBySession = sessionPriority(process.pid) !== undefined

async function startSleeper(detached: boolean) {
  const child = spawn('sleep', ['60'], { stdio: 'ignore', detached })
  await once(child, 'spawn')
  return { pid: child.pid as number, end: () => child.kill('SIGKILL') }
}

test('a process that leads a session runs behind with its session', { skip: !isBySession }, async () => {
  const sleeper = await startSleeper(true)
  try {
    runBehind(sleeper.pid)
    assert.equal(getPriority(sleeper.pid), Math.min(getPriority() + BEHIND, 19))
    await eventually('a low session', () => sessionPriority(sleeper.pid) === getPriority(sleeper.pid))
  } finally {
    sleeper.end()
  }
})

test('a process in the session of another one leaves that session as it is', { skip: !isBySession }, async () => {
  const sleeper = await startSleeper(false)
  const usual = sessionPriority(process.pid)
  try {
    runBehind(sleeper.pid, BEHIND)
    assert.equal(getPriority(sleeper.pid), BEHIND)
    assert.equal(sessionPriority(sleeper.pid), usual)
    assert.equal(sessionPriority(process.pid), usual)
  } finally {
    sleeper.end()
  }
})

test('a process that has ended is no error', async () => {
  const sleeper = spawn('true', { stdio: 'ignore' })
  await once(sleeper, 'exit')
  runBehind(sleeper.pid as number)
})
