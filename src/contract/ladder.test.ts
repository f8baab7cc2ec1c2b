import assert from 'node:assert/strict'
import test from 'node:test'
import { CLICKED, highestRung, LADDER, rungOfEvent, rungsGained, stageOf } from './ladder.ts'

test('the ladder is the seven words of the interface, lowest first', () => {
  assert.deepEqual([...LADDER], ['clicked', 'landed', 'started', 'registered', 'lead', 'deposit', 'ftd'])
})

test('six event types raise a click, each to its rung; other types do not', () => {
  const raised = ['land', 'bot_start', 'registration', 'lead', 'deposit', 'ftd'].map(
    type => LADDER[rungOfEvent(type) ?? 0],
  )
  assert.deepEqual(raised, ['landed', 'started', 'registered', 'lead', 'deposit', 'ftd'])
  for (const type of ['click', 'channel_join', 'purchase', 'first_dm', 'custom_1', 'constructor', '']) {
    assert.equal(rungOfEvent(type), undefined, type)
  }
})

test('the status is the highest rung among the stages', () => {
  assert.equal(highestRung(CLICKED), 0)
  assert.equal(highestRung(CLICKED | stageOf(4)), 4)
  assert.equal(highestRung(CLICKED | stageOf(6) | stageOf(1)), 6)
  assert.equal(highestRung(127), 6)
})

test('only stages that were not there before are gained', () => {
  assert.deepEqual(rungsGained(0, CLICKED), ['clicked'])
  assert.deepEqual(rungsGained(CLICKED | stageOf(4), CLICKED | stageOf(4) | stageOf(1)), ['landed'])
  assert.deepEqual(rungsGained(127, CLICKED), [])
})
