// What a lane may do beyond composing calls: judge answers, complete calls, and keep secrets out of the log.
import assert from 'node:assert/strict'
import test from 'node:test'
import { attemptsOf, deliveryOf, ORG, seedDelivery, untilInState, useOutbox } from '../../../tests/support/outbox.ts'
import { newId } from '../../contract/ids.ts'
import type { Lane, Outgoing } from './lane.ts'
import { redact } from './redact.ts'

const { db, pool, receiver, work: workWith } = await useOutbox()

/** Opens a worker with the address guard and a lane whose deliveries all make this call. */
function work(call: Outgoing) {
  const off = new Map<string, string>()
  const lane: Lane = {
    kind: 'ad_account',
    async findTargets() {
      const { rows } = await pool.query<{ target_id: string }>(
        `select distinct target_id from deliveries where kind = 'ad_account' and state = 'pending' and run_at <= now()`,
      )
      return rows.flatMap(({ target_id }) =>
        off.has(target_id) ? [] : [{ org_id: ORG, target_id, origin: target_id }],
      )
    },
    async compose(_client, _org_id, due) {
      return due.map(({ id }) => ({ id, call }))
    },
    async switchOff(_client, _org_id, target_id, reason) {
      off.set(target_id, reason)
    },
  }
  const worker = workWith({ delays: [1, 1, 1] }, { lanes: [lane], env: { ALLOW_PRIVATE_TARGETS: 'false' } })
  return { off, worker }
}

const seed = (target_id = newId()) => seedDelivery(db, { target_id, kind: 'ad_account' })

test('an address the operator set is called, one that a user typed is not where it leads inside', async () => {
  const there = await receiver()
  const trusted = await seed()
  const { worker } = work({ method: 'GET', url: there.origin, isTrusted: true })
  await untilInState(db, trusted.id, 'delivered')
  await worker.close()
  const typed = await seed()
  work({ method: 'GET', url: there.origin })
  const row = await untilInState(db, typed.id, 'failed')
  assert.deepEqual([row.failure, row.attempts], ['blocked', 4])
  assert.match(String(row.reason), /is not a public address/)
  assert.equal(there.arrivals.length, 1)
})

test('a lane judges an answer: a 200 that is a refusal, a 400 that is done', async () => {
  const refuses = await receiver((_, response) => void response.end('{"code":40002}'))
  const call: Outgoing = { method: 'POST', url: refuses.origin, body: '{}', isTrusted: true }
  const { id } = await seed()
  const { worker } = work({
    ...call,
    judge: ({ body }) => ({ outcome: 'failed', reason: `code ${(JSON.parse(body) as { code: number }).code}` }),
  })
  const row = await untilInState(db, id, 'failed')
  assert.deepEqual([row.reason, row.failure, row.attempts], ['code 40002', 'rejected', 1])
  await worker.close()
  const done = await receiver((_, response) => void response.writeHead(400).end('duplicate'))
  const other = await seed()
  work({ ...call, url: done.origin, judge: ({ status }) => (status === 400 ? { outcome: 'delivered' } : undefined) })
  assert.equal((await untilInState(db, other.id, 'delivered')).reason, null)
})

test('a dead connection switches the target off, costs no attempt, and its deliveries wait', async () => {
  const there = await receiver((_, response) => void response.writeHead(401).end('revoked'))
  const target_id = newId()
  const { id } = await seed(target_id)
  const { off } = work({
    method: 'GET',
    url: there.origin,
    isTrusted: true,
    judge: ({ body }) => ({ outcome: 'broken', reason: `the token was ${body}` }),
  })
  const row = await untilInState(db, id, 'pending', 1)
  assert.deepEqual([row.reason, row.failure, row.attempts_uncounted], ['the token was revoked', 'disconnected', 1])
  assert.deepEqual([...off], [[target_id, 'the token was revoked']])
  const later = await seed(target_id)
  const other = await seed()
  await untilInState(db, other.id, 'pending', 1)
  assert.equal((await deliveryOf(db, later.id)).attempts, 0)
  assert.equal(there.arrivals.length, 2)
})

test('what is missing is fetched behind the claim, and no secret reaches the log', async () => {
  const there = await receiver(({ url, headers }, response) => {
    if (url === '/token') return void response.end('T0 "k"')
    response.writeHead(url.startsWith('/x?key=a') ? 500 : 200).end(`bad token ${headers['authorization']} in ${url}`)
  })
  const { id } = await seed()
  work({
    method: 'POST',
    url: `${there.origin}/x?key=a%2Fb`,
    shown: { body: '{"key":"a/b"}' },
    secrets: ['a/b'],
    isTrusted: true,
    async complete(fetch) {
      const { body: token } = await fetch({ method: 'GET', url: `${there.origin}/token`, isTrusted: true })
      const url = `${there.origin}/x?key=${encodeURIComponent('a/b')}`
      return {
        method: 'POST',
        url,
        headers: { authorization: token },
        body: '{"key":"a/b"}',
        secrets: [token],
        isTrusted: true,
      }
    },
  })
  await untilInState(db, id, 'failed')
  const attempts = await attemptsOf(db, id)
  assert.equal(attempts.length, 4)
  for (const { url, body, answer } of attempts) {
    assert.deepEqual([url, body], [`${there.origin}/x?key=[secret]`, '{"key":"[secret]"}'])
    assert.equal(answer, 'bad token [secret] in /x?key=[secret]')
  }
  assert.equal(there.arrivals.filter(({ body }) => body === '{"key":"a/b"}').length, 4)
})

test('what cannot be fetched is tried again, or ends the delivery as the lane says', async () => {
  let times = 0
  const there = await receiver()
  const { id } = await seed()
  work({
    method: 'GET',
    url: there.origin,
    isTrusted: true,
    async complete() {
      times += 1
      if (times === 1) throw new Error('no token')
      return times === 2 ? { outcome: 'retry', reason: 'not yet' } : { outcome: 'failed', reason: 'never' }
    },
  })
  const row = await untilInState(db, id, 'failed')
  assert.deepEqual([row.reason, row.attempts, there.arrivals.length], ['never', 3, 0])
  assert.deepEqual(
    (await attemptsOf(db, id)).map(({ error }) => error),
    ['Error: no token', 'not yet', 'never'],
  )
})

test('a secret is struck out as it is, percent-encoded and escaped, the longest first', () => {
  assert.equal(redact('a/b a%2Fb a/bc', ['a/b', 'a/bc', '']), '[secret] [secret] [secret]')
  assert.equal(redact('{"t":"x\\"y"}', ['x"y']), '{"t":"[secret]"}')
  assert.equal(redact(null, ['a']), null)
})
