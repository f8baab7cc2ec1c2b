// Addresses that people mistype or programs rewrite: no visitor and no conversion is lost to an extra slash, and no page answers for them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { useHouse, type TestHouse } from '../../tests/support/house.ts'
import { seedClick } from '../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../tests/support/people.ts'
import { toWireId } from '../contract/ids.ts'

let house: TestHouse
let owner: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
})
after(() => house.end())

const created = async (route: string, body: object) => {
  const made = await house.call('POST', route, { ...owner, body })
  assert.equal(made.statusCode, 201, made.body)
  return made.data()
}

test('a tracking link works with extra slashes and changed case', async () => {
  const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}&s={sub1}' }
  const made = await created('/api/campaigns', { name: 'Shop', key: 'spring-sale', destination })
  const key = String(made['key'])
  const sub1 = 'https%3A//a//B/'
  for (const path of [`/c/${key}`, `/c/${key}/`, `//c/${key}`, `/c//${key}//`, `/C/${key}/`, '/C/SPRING-SALE']) {
    const answer = await house.call('GET', `${path}?sub1=${sub1}`)
    assert.equal(answer.statusCode, 302, path)
    const at = new URL(String(answer.headers['location']))
    assert.equal(at.searchParams.get('s'), 'https://a//B/', path)
    assert.match(at.searchParams.get('c') ?? '', /^[0-9a-z]{26}$/, path)
  }
  assert.equal((await house.call('GET', `/c/${key}/more`)).statusCode, 404)
  // An ad network appends this to an address that it assumes to have parameters already.
  for (const path of [`/c/${key}&sub1=a&sub2=b`, `/c/${key}/&sub1=a`, `/c/${key}&x=1?sub1=a`]) {
    const { headers } = await house.call('GET', path)
    assert.equal(new URL(String(headers['location'])).searchParams.get('s'), 'a', path)
  }
})

test("a network's postback is recorded with extra slashes and changed case", async () => {
  const { postback_url } = await created('/api/networks', { name: 'Net', template: 'plain' })
  const token = String(new URL(String(postback_url), 'http://localhost').pathname.split('/')[2])
  const paths = [`/postback/${token}/`, `//postback/${token}`, `/Postback/${token}`, `/postback//${token}`]
  for (const path of paths) {
    const click_id = await seedClick(house.database, owner.org_id)
    const answer = await house.call('GET', `${path}?click_id=${toWireId(click_id)}&status=lead`)
    assert.deepEqual([answer.statusCode, answer.body], [200, 'OK\n'], path)
    const { rows } = await house.database.reads.query('select from events where click_id = $1', [click_id])
    assert.equal(rows.length, 1, path)
  }
})

test('a landing page reaches its script, its beacon and the offer with an extra slash', async () => {
  for (const path of ['/sluice.js', '//sluice.js', '/sluice.js/']) {
    const script = await house.call('GET', path)
    assert.match(String(script.headers['content-type']), /^text\/javascript/, path)
  }
  for (const path of ['/l/none/', '//l/none', '/L/none'])
    assert.equal((await house.call('POST', path)).body, 'No such click.\n', path)
  for (const path of ['/o/', '//o', '//o/none', '/O/none/'])
    assert.match((await house.call('GET', path)).body, /This offer is not available/, path)
})

test('a misspelled address of the API gets no page of the dashboard', async () => {
  for (const path of ['//api/v1/clicks', '///api/v1/report', '/API/v1/clicks', '/api%2Fv1%2Fclicks', '/Healthz']) {
    const answer = await house.call('GET', path)
    assert.deepEqual([answer.statusCode, answer.data()['error']], [404, 'not found'], path)
    assert.match(String(answer.data()['hint']), /single slashes/, path)
  }
})
