import assert from 'node:assert/strict'
import { test } from 'node:test'
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
