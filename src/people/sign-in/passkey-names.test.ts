// What passkeys are called, which is for their person alone.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newAuthenticator } from '../../../tests/support/authenticator.ts'
import { ORIGIN, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

const post = (path: string, body: unknown, { cookie }: SignedIn) =>
  house.call('POST', `/api/auth/passkey${path}`, { body, headers: { origin: ORIGIN, cookie } })

type Passkeys = { passkeys: { id: string; name: string }[] }
const passkeysOf = async ({ cookie }: SignedIn) =>
  (await house.call('GET', '/api/second-factor', { cookie })).json<Passkeys>().passkeys

/** Someone with two passkeys; answers the id of the first. */
async function withPasskeys(): Promise<{ person: SignedIn; id: string }> {
  const person = await seedSignedIn(house)
  for (const name of ['Phone', 'Laptop']) {
    const asked = (await post('/ask', {}, person)).json<{ challenge: string }>()
    const added = await post('/add', { name, response: newAuthenticator().make(asked) }, person)
    assert.equal(added.statusCode, 200, added.body)
  }
  const [first] = await passkeysOf(person)
  return { person, id: first?.id ?? '' }
}

test('a passkey is renamed, and nothing else: neither another one, nor what signs in', async () => {
  const { person, id } = await withPasskeys()
  const of = async () =>
    (
      await house.database.reads.query<{ as: string }>(
        `select md5(string_agg((to_jsonb(p) - 'name')::text, '' order by id)) as as from passkeys p`,
      )
    ).rows[0]?.as
  const before = await of()
  const reply = await post('/rename', { id, name: '  Old phone ' }, person)
  assert.deepEqual([reply.statusCode, reply.json()], [200, { status: true }])
  assert.deepEqual(
    (await passkeysOf(person)).map(({ name }) => name),
    ['Old phone', 'Laptop'],
  )
  assert.equal(await of(), before)
})

test('somebody else’s passkey is not there to be renamed, nor is one that never was; a name must be one', async () => {
  const { person, id } = await withPasskeys()
  const { person: other } = await withPasskeys()
  for (const [as, sent, status, code] of [
    [other, { id, name: 'Mine' }, 404, 'not_found'],
    [person, { id: 'nothing', name: 'Mine' }, 404, 'not_found'],
    [person, { id: '0'.repeat(26), name: 'Mine' }, 404, 'not_found'],
    [person, { id, name: ' ' }, 400, undefined],
    [person, { id, name: 'x'.repeat(1000) }, 400, undefined],
    [person, { id }, 400, undefined],
  ] as const) {
    const reply = await post('/rename', sent, as)
    assert.deepEqual([reply.statusCode, reply.data()['code']], [status, code], JSON.stringify(sent))
  }
  const theirs = await house.call('POST', '/api/auth/passkey/rename', {
    body: { id, name: 'Mine' },
    headers: { origin: 'https://evil.example', cookie: person.cookie },
  })
  assert.equal(theirs.statusCode, 403)
  for (const one of [person, other])
    assert.deepEqual(
      (await passkeysOf(one)).map(({ name }) => name),
      ['Phone', 'Laptop'],
    )
})
