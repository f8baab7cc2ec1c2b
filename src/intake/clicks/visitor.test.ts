import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visitorOf } from './visitor.ts'

test('a first visit gets a lasting first-party cookie that scripts cannot read', () => {
  const { id, is_new, cookie } = visitorOf(undefined, true)
  assert.equal(is_new, true)
  assert.equal(cookie, `sluice_v=${id}; Max-Age=34560000; Path=/; HttpOnly; SameSite=Lax; Secure`)
  assert.doesNotMatch(visitorOf(undefined, false).cookie ?? '', /Secure/)
})

test('the cookie brings the same visitor back, among other cookies', () => {
  const { id } = visitorOf(undefined, false)
  for (const header of [`sluice_v=${id}`, `a=b; sluice_v=${id}; c=d`, ['a=b', `sluice_v=${id}`]])
    assert.deepEqual(visitorOf(header, false), { id, is_new: false, cookie: undefined })
})

test('a cookie that we never made is as if it were not there', () => {
  const { id } = visitorOf(undefined, false)
  for (const header of [
    'sluice_v=',
    'sluice_v=1',
    `xsluice_v=${id}`,
    `sluice_v=${id}x`,
    `sluice_v=${id.toUpperCase().replace(/[0-9]/g, 'A')}`,
  ])
    assert.equal(visitorOf(header, false).is_new, true, header)
})
