import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../tests/support/eventually.ts'
import { openLog } from './log.ts'

const lines: string[] = []
const log = openLog('info', { write: line => lines.push(line) })

test('credentials are removed wherever headers are logged', () => {
  const headers = {
    'x-api-key': 'hidden',
    cookie: 'hidden',
    authorization: 'hidden',
    'set-cookie': ['hidden'],
    host: 'shown',
  }
  log.info({ headers })
  log.info({ req: { headers }, res: { headers } })
  log.info(headers)
  for (const line of lines.splice(0)) {
    assert.match(line, /shown/)
    assert.doesNotMatch(line, /hidden/)
  }
})

test('an error is logged with its message, stack and code, without the row it is about', () => {
  const error = Object.assign(new Error('duplicate key'), {
    code: '23505',
    detail: 'Key (email)=(hidden) already exists.',
  })
  log.error({ err: error }, 'a statement failed')
  log.error({ err: 'thrown text' })
  const [entry, text] = lines.splice(0)
  assert.match(entry ?? '', /"message":"duplicate key".*"stack":".*log\.test\.ts.*"code":"23505"/)
  assert.doesNotMatch(entry ?? '', /hidden/)
  assert.match(text ?? '', /thrown text/)
})

test('a fault that repeats is written once in a while, with how often it happened, and with its stack only the first time', async () => {
  const slow = openLog('info', { write: line => lines.push(line) }, 200)
  const fault = () => Object.assign(new Error('no room'), { code: 'ENOSPC' })
  const faults = () => lines.filter(line => line.includes('"msg":"could not write"')).map(line => JSON.parse(line))
  for (let n = 0; n < 50; n += 1) slow.error({ err: fault(), number: n }, 'could not write')
  assert.equal(faults().length, 1)
  assert.match(faults()[0].err.stack, /log\.test/)
  slow.error({ err: Object.assign(fault(), { code: 'EIO' }) }, 'could not write')
  slow.error({ err: fault() }, 'could not read')
  slow.warn('a warning without an error')
  slow.warn('a warning without an error')
  assert.equal(lines.length, 5, 'other lines are not held back')
  await eventually('the repetitions are told', () => faults().length === 3)
  const { times, number, err } = faults()[2]
  assert.deepEqual([times, number, err], [49, 49, { type: 'Error', message: 'no room', code: 'ENOSPC' }])
  lines.length = 0
})

test('a fault that comes again later is written at once, without its stack', () => {
  const patient = openLog('info', { write: line => lines.push(line) }, 0)
  for (let n = 0; n < 2; n += 1) patient.error({ err: new Error('no room'), n }, 'could not write')
  const [first, second] = lines.splice(0).map(line => JSON.parse(line))
  assert.match(first.err.stack, /log\.test/)
  const { n, err, times } = second
  assert.deepEqual([n, err, times], [1, { type: 'Error', message: 'no room' }, undefined])
})
