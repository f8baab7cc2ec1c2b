import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toWireId } from '../../contract/ids.ts'
import { clickOfCookie, linkCookie, linkOfCookie, onwardCookie, visitorOf, visitsOf } from './visitor.ts'

test('a first visit gets a lasting first-party cookie that scripts cannot read', () => {
  const { id, is_new, cookie } = visitorOf(undefined, true)
  assert.equal(is_new, true)
  assert.equal(cookie, `vis_id=${id}; Max-Age=34560000; Path=/; HttpOnly; SameSite=Lax; Secure`)
  assert.doesNotMatch(visitorOf(undefined, false).cookie ?? '', /Secure/)
})

test('the cookie brings the same visitor back, among other cookies', () => {
  const { id } = visitorOf(undefined, false)
  for (const header of [`vis_id=${id}`, `a=b; vis_id=${id}; c=d`, ['a=b', `vis_id=${id}`]])
    assert.deepEqual(visitorOf(header, false), { id, is_new: false, cookie: undefined })
})

test('a cookie that we never made is as if it were not there', () => {
  const { id } = visitorOf(undefined, false)
  for (const header of [
    'vis_id=',
    'vis_id=1',
    `xvis_id=${id}`,
    `vis_id=${id}x`,
    `vis_id=${id.toUpperCase().replace(/[0-9]/g, 'A')}`,
  ])
    assert.equal(visitorOf(header, false).is_new, true, header)
})

test('cookies of an earlier version still name the visitor, the link, the click and the last visit; a new one beside them counts first', () => {
  const [id, other] = [crypto.randomUUID(), crypto.randomUUID()]
  assert.deepEqual(visitorOf(`sluice_v=${id}`, true), { id, is_new: false, cookie: undefined })
  assert.equal(visitorOf(`sluice_v=${id}; vis_id=${other}`, true).id, other)
  assert.equal(linkOfCookie(`sluice_l=${id}`), id)
  assert.equal(linkOfCookie(`sluice_l=${id}; vis_link=${other}`), other)
  assert.equal(clickOfCookie(`sluice_c=${toWireId(id)}`), id)
  assert.equal(clickOfCookie(`sluice_c=${toWireId(id)}; vis_click=${toWireId(other)}`), other)
  const secrets = { mac: (_: string, said: string) => Buffer.from(said.padEnd(32, '-')) }
  const visits = (cookies: string) =>
    visitsOf(secrets, { campaign_id: 'c', visitor_id: id }, { cookies, url: '/c/key', isSecure: true })
  const [first, later] = [1_000_000, 2_000_000].map(ms => visits('').cookie(ms).split(';')[0] ?? '')
  const before = String(first).replace('vis_seen', 'sluice_t')
  assert.equal(visits(before).lastSeen(), 1_000_000)
  assert.equal(visits(`${before}; ${later}`).lastSeen(), 2_000_000)
  for (const cookie of [linkCookie(id, '/c/key', true), onwardCookie(id, true), later])
    assert.doesNotMatch(String(cookie), /sluice/)
})
