// Names under one registrable domain: who has one of them has not shown that the others are theirs too.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { z } from 'zod'
import { type DomainHouse, HERE, MAIN_HOST, startDomainHouse } from '../../../tests/support/domains.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import type { Domain } from './api.ts'
import { zoneOf } from './proof.ts'

type Shown = z.input<typeof Domain>

let house: DomainHouse
before(async () => {
  house = await startDomainHouse({ ALSO_HOSTS: 'www.also.test' })
})
after(() => house.end())

const did = async (method: 'POST' | 'DELETE', url: string, body: object | undefined, as: SignedIn) => {
  const reply = await house.call(method, url, { cookie: as.cookie, ...(body && { body }) })
  assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.body}`)
  return reply.json<Shown>()
}
/** A check by itself: what was answered a moment ago is not what is asked for. */
const check = async (id: string, as: SignedIn) => {
  await house.database.kysely.updateTable('domains').set({ checked_at: null }).where('org_id', '=', as.org_id).execute()
  return await did('POST', `/api/domains/${id}/check`, undefined, as)
}
/** Adds a name, and answers what the first check has found, which begins by itself. */
const added = async (name: string, as: SignedIn) => {
  const { id } = await did('POST', '/api/domains', { name }, as)
  return await did('POST', `/api/domains/${id}/check`, undefined, as)
}
const codes = ({ check: found }: Shown) => found?.problems.map(({ code }) => code)
const proof = ({ records }: Shown) => records.find(({ type }) => type === 'TXT')

test('the registrable domain is told by the public suffix list, where companies’ own suffixes are their names', () => {
  for (const [name, zone] of [
    ['a.b.victim.test', 'victim.test'],
    ['victim.test', 'victim.test'],
    ['go.shop.co.uk', 'shop.co.uk'],
    ['other.co.uk', 'other.co.uk'],
    ['co.uk', 'co.uk'],
    ['a.me.github.io', 'github.io'],
    ['go.xn--e1afmkfd.xn--p1ai', 'xn--e1afmkfd.xn--p1ai'],
    ['www.ck', 'www.ck'],
    ['localhost', 'localhost'],
    ['10.0.0.5', '10.0.0.5'],
  ] as const)
    assert.equal(zoneOf(name), zone, name)
})

test('a name beside one of another organization is not proven by pointing, because a wildcard record points it here too: at its side, above, or deeper', async () => {
  const [first, second] = [await seedSignedIn(house), await seedSignedIn(house)]
  for (const name of ['go.victim.test', 'login.victim.test', 'victim.test', 'a.b.victim.test', 'of-nobody.test'])
    house.dns.set(name, { A: [HERE] })
  assert.equal((await added('go.victim.test', first)).status, 'active')
  for (const name of ['login.victim.test', 'victim.test', 'a.b.victim.test']) {
    const stranger = await added(name, second)
    assert.deepEqual([stranger.status, codes(stranger)], ['pending', ['txt_missing']], name)
    const [problem] = stranger.check?.problems ?? []
    assert.match(`${problem?.text}`, /Another organization on this server has or had victim\.test, or a name under it/)
    assert.equal(proof(stranger)?.reason?.includes('victim.test'), true)
    assert.doesNotMatch(JSON.stringify(stranger), /go\.victim/, 'whose it is, and which name, is not told')
    assert.equal((await house.visit(name, '/healthz')).status, 200, 'it is any other name')
  }
  assert.equal((await added('login.victim.test', first)).status, 'active', 'who has the other name needs nothing more')
  assert.equal((await added('of-nobody.test', second)).status, 'active')
  const mine = await added('mine.victim.test', second)
  house.dns.set('mine.victim.test', { A: [HERE] })
  house.dns.set('_sluice.mine.victim.test', { TXT: [proof(mine)?.value ?? ''] })
  assert.equal((await check(mine.id, second)).status, 'active', 'with the record it is theirs')
})

test('neither is a name beside one that was deleted, or beside a name of the dashboard', async () => {
  const [first, second] = [await seedSignedIn(house), await seedSignedIn(house)]
  for (const name of ['go.sold.test', 'login.sold.test', `login.${MAIN_HOST}`, `a.b.${MAIN_HOST}`, 'go.also.test'])
    house.dns.set(name, { A: [HERE] })
  const { id } = await added('go.sold.test', first)
  await did('DELETE', `/api/domains/${id}`, undefined, first)
  for (const name of ['login.sold.test', `login.${MAIN_HOST}`, `a.b.${MAIN_HOST}`, 'go.also.test']) {
    const domain = await added(name, second)
    assert.deepEqual(codes(domain), ['txt_missing'], name)
    const reason = name === 'login.sold.test' ? /Another organization on this server/ : /the dashboard’s own address/
    assert.match(`${proof(domain)?.reason}`, reason, name)
  }
})

test('domains that are in service stay so, whoever comes beside them', async () => {
  const [first, second] = [await seedSignedIn(house), await seedSignedIn(house)]
  for (const name of ['go.shared.test', 'two.shared.test']) house.dns.set(name, { A: [HERE] })
  const held = await added('go.shared.test', first)
  const beside = await added('two.shared.test', second)
  house.dns.set('_sluice.two.shared.test', { TXT: [proof(beside)?.value ?? ''] })
  assert.equal((await check(beside.id, second)).status, 'active')
  const again = await check(held.id, first)
  assert.deepEqual([again.status, codes(again)], ['active', []])
})

test('of two that bring names of one domain at the same moment only one gets its own without the record', async () => {
  for (let round = 0; round < 5; round += 1) {
    const [first, second] = [await seedSignedIn(house), await seedSignedIn(house)]
    const names = [`go.race${round}.test`, `login.race${round}.test`] as const
    for (const name of names) house.dns.set(name, { A: [HERE] })
    await Promise.all([added(names[0], first), added(names[1], second)])
    const { rows } = await house.database.reads.query<{ status: string }>(
      'select status from domains where name = any($1) order by 1',
      [names],
    )
    assert.deepEqual(rows, [{ status: 'active' }, { status: 'pending' }])
  }
})
