// What proves a name, and what does not: each check asks DNS of our own and knocks at servers of this machine.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type DomainHouse,
  HERE,
  MAIN_HOST,
  NOBODY,
  startDomainHouse,
  startOther,
} from '../../../tests/support/domains.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openMailbox } from '../../../tests/support/mailbox.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { freePort } from '../../../tests/support/ports.ts'
import { BROWSER, recount, seedCampaign } from '../../../tests/support/visits.ts'
import type { Domain } from './api.ts'
import type { z } from 'zod'

type Shown = z.input<typeof Domain>

let house: DomainHouse
let owner: SignedIn
before(async () => {
  house = await startDomainHouse()
  owner = await seedSignedIn(house)
})
after(() => house.end())

let made = 0
const fresh = () => `go.d${(made += 1)}-proof.test`
const did = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, body?: object, as = owner, of = house) => {
  const reply = await of.call(method, url, { cookie: as.cookie, ...(body && { body }) })
  assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.body}`)
  return reply.json<Shown>()
}
/** A check by itself: what was answered a moment ago is not what is asked for. */
const check = async (id: string, as = owner, of = house) => {
  await of.database.kysely.updateTable('domains').set({ checked_at: null }).where('org_id', '=', as.org_id).execute()
  return await did('POST', `/api/domains/${id}/check`, undefined, as, of)
}
const add = async (name = fresh(), as = owner, of = house) => did('POST', '/api/domains', { name }, as, of)
/** Adds a name, and answers what the first check has found, which begins by itself. */
const added = async (name = fresh(), as = owner, of = house) =>
  await did('POST', `/api/domains/${(await add(name, as, of)).id}/check`, undefined, as, of)
const codes = ({ check: found }: Shown) => found?.problems.map(({ code }) => code)
const proof = ({ records }: Shown) => records.find(({ type }) => type === 'TXT')
const isServed = async (name: string, of = house) => (await of.visit(name, '/healthz')).status === 404

test('a name that leads here is in service with its first check, which begins by itself', async () => {
  const name = fresh()
  house.dns.set(name, { CNAME: MAIN_HOST })
  const { id } = await add(name)
  await eventually('it is active', async () => (await did('GET', `/api/domains/${id}`)).status === 'active')
  const domain = await did('GET', `/api/domains/${id}`)
  assert.deepEqual(domain.check?.addresses, [HERE])
  assert.deepEqual(domain.check?.problems, [])
  assert.deepEqual(domain.records[0]?.found, [MAIN_HOST])
  assert.equal(domain.certificate.state, 'off')
  assert.notEqual(domain.proven_at, null)
  const { key } = await seedCampaign(house.database, owner.org_id)
  for (const path of [`/c/${key}`, `/${key}`])
    assert.equal((await house.visit(name, path, { headers: BROWSER })).status, 302, path)
})

test('the rounds of a worker find what leads here later, and processes hear of it', async () => {
  const name = fresh()
  const { id } = await added(name)
  assert.equal((await did('GET', `/api/domains/${id}`)).status, 'pending')
  const worker = await house.second({ ROLE: 'work' })
  const second = await house.second({ ROLE: 'serve' })
  try {
    house.dns.set(name, { A: [HERE] })
    await house.database.kysely
      .updateTable('domains')
      .set({ next_check_at: new Date(Date.now() - 1000).toISOString() })
      .where('org_id', '=', owner.org_id)
      .where('name', '=', name)
      .execute()
    for (const process of [house, second])
      await eventually('it is served', async () => {
        const { statusCode } = await process.app.inject({ url: '/readyz', headers: { host: name } })
        return statusCode === 404
      })
    assert.equal((await did('GET', `/api/domains/${id}`)).status, 'active')
  } finally {
    await worker.end()
    await second.end()
  }
})

describe('what a check finds is said in words, with a cure', () => {
  type Zone = Parameters<DomainHouse['dns']['set']>[1]
  const cases: [what: string, code: string, zone: Zone, status: string][] = [
    ['no such name', 'no_such_name', undefined, 'pending'],
    ['a name without an address', 'no_such_name', { TXT: ['x'] }, 'pending'],
    ['nobody there', 'points_elsewhere', { A: [NOBODY] }, 'pending'],
    ['an error of DNS', 'dns_broken', { state: 'servfail' }, 'pending'],
    ['a DNS that says nothing', 'dns_silent', { state: 'silent' }, 'pending'],
    ['a dead IPv6 address beside a good one', 'ipv6_elsewhere', { A: [HERE], AAAA: ['2001:db8::1'] }, 'active'],
    ['a part of the visitors elsewhere', 'mixed_addresses', { A: [HERE, NOBODY] }, 'active'],
    ['another authority', 'caa_forbids', { A: [HERE], CAA: ['ca.example; x=y'] }, 'active'],
  ]
  for (const [what, code, zone, status] of cases)
    test(what, async () => {
      const name = fresh()
      house.dns.set(name, zone)
      const domain = await added(name)
      assert.deepEqual([domain.status, codes(domain)], [status, [code]])
      const [problem] = domain.check?.problems ?? []
      assert.ok((problem?.text.length ?? 0) > 20 && (problem?.cure.length ?? 0) > 20)
    })

  test('an authority named at a name above counts, and Let’s Encrypt among them is well', async () => {
    house.dns.set('caa.test', { CAA: [';'] })
    house.dns.set('a.caa.test', { A: [HERE] })
    house.dns.set('b.caa.test', { A: [HERE], CAA: ['other.example', 'letsencrypt.org'] })
    assert.deepEqual(codes(await added('a.caa.test')), ['caa_forbids'])
    assert.deepEqual(codes(await added('b.caa.test')), [])
  })

  test('an answer that is too long for UDP is asked for by TCP', async () => {
    const name = fresh()
    house.dns.set(name, { A: [HERE], state: 'truncated' })
    assert.equal((await added(name)).status, 'active')
    assert.ok(house.dns.asked.includes(`A ${name} tcp`))
  })

  test('another server, a proxy that changes the name, and two that send visitors round', async () => {
    const others: { close(): Promise<void> }[] = []
    const told = async (address: string, answer: Parameters<typeof startOther>[2]) => {
      others.push(await startOther(address, house.port, answer))
      const name = fresh()
      house.dns.set(name, { A: [address] })
      const domain = await added(name)
      assert.equal(domain.status, 'pending')
      return codes(domain)
    }
    try {
      assert.deepEqual(await told('127.0.0.2', (_, answer) => answer.end('hello')), ['other_server'])
      // It knows the form of an answer, but not the secret.
      const forged = `proof ${'A'.repeat(43)} `
      assert.deepEqual(await told('127.0.0.3', ({ headers }, answer) => answer.end(`${forged}${headers.host}\n`)), [
        'other_server',
      ])
      assert.deepEqual(
        await told('127.0.0.4', (request, answer) => {
          void fetch(`http://${HERE}:${house.port}${request.url}`).then(async got => answer.end(await got.text()))
        }),
        ['host_not_forwarded'],
      )
      const loop: Parameters<typeof startOther>[2] = ({ headers, url }, answer) =>
        answer.writeHead(301, { location: `http://${headers.host}${url}` }).end()
      assert.deepEqual(await told('127.0.0.5', loop), ['redirect_loop'])
      const away: Parameters<typeof startOther>[2] = ({ url }, answer) =>
        answer.writeHead(302, { location: `http://${HERE}:${house.port}${url}` }).end()
      assert.deepEqual(await told('127.0.0.6', away), ['other_server'], 'no redirect to anywhere else is followed')
    } finally {
      for (const other of others) await other.close()
    }
  })

  test('zones that browsers open by https alone are named', async () => {
    house.dns.set('go.sluice-test.dev', { A: [HERE] })
    assert.deepEqual(codes(await added('go.sluice-test.dev')), ['https_only_zone'])
  })
})

test('a private address that is not this machine’s own is not probed', async () => {
  const closed = await startDomainHouse({ ALLOW_PRIVATE_TARGETS: 'false' })
  try {
    const as = await seedSignedIn(closed)
    let knocks = 0
    const inner = await startOther('127.0.0.7', closed.port, (_, answer) => {
      knocks += 1
      answer.end()
    })
    closed.dns.set('inner.test', { A: ['127.0.0.7'] })
    assert.deepEqual(codes(await added('inner.test', as, closed)), ['points_elsewhere'])
    assert.equal(knocks, 0)
    await inner.close()
  } finally {
    await closed.end()
  }
})

test('behind a router that leads nothing back, the addresses of BASE_URL are second best', async () => {
  // Nothing listens where checks knock: neither the name nor BASE_URL's host can be reached from here.
  const shut = await startDomainHouse({ CHECK_PORTS: `${await freePort()},${await freePort()}` })
  try {
    const as = await seedSignedIn(shut)
    shut.dns.set('same.test', { A: [HERE] })
    shut.dns.set('other.test', { A: [NOBODY] })
    const domain = await added('same.test', as, shut)
    assert.deepEqual([domain.status, codes(domain)], ['active', []])
    assert.equal((await added('other.test', as, shut)).status, 'pending')
  } finally {
    await shut.end()
  }
})

test('a check answers what was found a moment ago, and checks asked for at once are one', async () => {
  const name = fresh()
  house.dns.set(name, { A: [HERE] })
  const { id } = await added(name)
  const asked = () => house.dns.asked.filter(one => one === `A ${name} udp`).length
  const before = asked()
  const again = await did('POST', `/api/domains/${id}/check`)
  assert.equal(again.status, 'active')
  assert.equal(asked(), before)
  await house.database.kysely
    .updateTable('domains')
    .set({ checked_at: null })
    .where('org_id', '=', owner.org_id)
    .execute()
  await Promise.all([1, 2, 3].map(() => did('POST', `/api/domains/${id}/check`)))
  assert.equal(asked(), before + 1)
})

describe('a name that leads elsewhere for an hour', () => {
  test('is failing, is told to the owners once, and is served on; and is active again by itself', async () => {
    const mailbox = await openMailbox()
    const worker = await house.second({ ROLE: 'work', SMTP_URL: mailbox.url })
    try {
      const name = fresh()
      house.dns.set(name, { A: [HERE] })
      const { id } = await added(name)
      house.dns.set(name, { A: [NOBODY] })
      const failed = async () => (await check(id)).status
      assert.deepEqual(
        [await failed(), await failed(), await failed()],
        ['active', 'active', 'active'],
        'not for an hour yet',
      )
      await house.database.kysely
        .updateTable('domains')
        .set({ failing_since: new Date(Date.now() - 3_700_000).toISOString() })
        .where('org_id', '=', owner.org_id)
        .where('name', '=', name)
        .execute()
      assert.deepEqual([await failed(), await failed()], ['failing', 'failing'])
      assert.ok(await isServed(name), 'whoever comes is here')
      const mail = await mailbox.next(owner.email)
      assert.match(mail.text, new RegExp(`${name} no longer leads here`))
      assert.match(mail.text, /Nothing answers at/)
      house.dns.set(name, { A: [HERE] })
      assert.equal((await check(id)).status, 'active')
      assert.equal(mailbox.mails.filter(({ text }) => text.includes(name)).length, 1)
    } finally {
      await worker.end()
      await mailbox.close()
    }
  })

  test('stands as it stood while our own resolver says nothing', async () => {
    const name = fresh()
    house.dns.set(name, { A: [HERE] })
    const { id } = await added(name)
    house.dns.set(name, { state: 'silent' })
    const domain = await check(id)
    assert.deepEqual([domain.status, codes(domain)], ['active', ['dns_silent']])
    const row = await house.database.kysely
      .selectFrom('domains')
      .select(['failures', 'failing_since'])
      .where('org_id', '=', owner.org_id)
      .where('name', '=', name)
      .executeTakeFirstOrThrow()
    assert.deepEqual(row, { failures: 0, failing_since: null })
  })
})

describe('who owns a name', () => {
  /** Both want it, and DNS leads here. */
  const rivals = async () => {
    const name = fresh()
    house.dns.set(name, { A: [HERE] })
    return { name, first: await seedSignedIn(house), second: await seedSignedIn(house) }
  }
  const visit = async (name: string, key: string) => (await house.visit(name, `/c/${key}`, { headers: BROWSER })).status

  test('nobody blocks another’s name by adding it first, and who proves it first holds it', async () => {
    const { name, first, second } = await rivals()
    house.dns.set(name, undefined)
    const idle = await added(name, first)
    house.dns.set(name, { A: [HERE] })
    const quick = await added(name, second)
    assert.deepEqual([idle.status, quick.status], ['pending', 'active'])
    const late = await check(idle.id, first)
    assert.deepEqual([late.status, codes(late)], ['pending', ['txt_missing']])
    assert.match(proof(late)?.value ?? '', /^sluice=[\w-]{22}$/)
    assert.equal(proof(late)?.name, `_sluice.${name}`)
  })

  test('of two that prove it at the same moment one does', async () => {
    const { name, first, second } = await rivals()
    const [a, b] = [await add(name, first), await add(name, second)]
    await Promise.all([check(a.id, first), check(b.id, second)])
    const { rows } = await house.database.reads.query<{ status: string }>(
      'select status from domains where name = $1 order by 1',
      [name],
    )
    assert.deepEqual(rows, [{ status: 'active' }, { status: 'pending' }])
  })

  test('with its TXT record a name is taken over from who has none; the loser is told once, and no click is anybody else’s', async () => {
    const mailbox = await openMailbox()
    const worker = await house.second({ ROLE: 'work', SMTP_URL: mailbox.url })
    try {
      const { name, first, second } = await rivals()
      const [ours, theirs] = [
        await seedCampaign(house.database, first.org_id),
        await seedCampaign(house.database, second.org_id),
      ]
      const held = await added(name, first)
      const challenger = await added(name, second)
      assert.deepEqual(codes(challenger), ['txt_missing'])
      house.dns.set(`_sluice.${name}`, { TXT: ['sluice=somebody-elses-value-xx'] })
      assert.deepEqual(codes(await check(challenger.id, second)), ['txt_wrong'])
      house.dns.set(`_sluice.${name}`, { TXT: ['v=spf1 -all', proof(challenger)?.value ?? ''] })
      let isOver = false
      const during: number[] = []
      const storm = (async () => {
        while (!isOver) during.push(await visit(name, ours.key), await visit(name, theirs.key))
      })()
      assert.equal((await check(challenger.id, second)).status, 'active')
      isOver = true
      await storm
      assert.ok(during.every(status => status === 302 || status === 404))
      assert.deepEqual([await visit(name, ours.key), await visit(name, theirs.key)], [404, 302])
      const lost = await did('GET', `/api/domains/${held.id}`, undefined, first)
      assert.deepEqual([lost.status, lost.is_default], ['lost', false])
      for (const one of [first, second]) {
        const { rows } = await house.database.reads.query<{ wrong: number }>(
          `select count(*)::int as wrong from clicks where org_id = $1 and campaign_id not in (select id from campaigns where org_id = $1)`,
          [one.org_id],
        )
        assert.equal(rows[0]?.wrong, 0)
        assert.ok((await recount(house.database, one.org_id)).clicks > 0)
      }
      const mail = await mailbox.next(first.email)
      assert.match(mail.text, new RegExp(`${name} belongs to another`))
      // And back, the same way: the name was theirs all along.
      const value = proof(await check(held.id, first))?.value ?? ''
      house.dns.set(`_sluice.${name}`, { TXT: [value] })
      const tries = [await check(held.id, first), await check(held.id, first), await check(held.id, first)]
      assert.deepEqual(
        tries.map(one => [one.status, codes(one)?.[0]]),
        [
          ['lost', 'held_by_other'],
          ['lost', 'held_by_other'],
          ['active', undefined],
        ],
      )
      assert.equal(mailbox.mails.filter(({ to }) => to.includes(first.email)).length, 1)
      await mailbox.next(second.email)
    } finally {
      await worker.end()
      await mailbox.close()
    }
  })

  test('with both records there it stays with who holds it', async () => {
    const { name, first, second } = await rivals()
    // The other one has a name below it, so that both have to say whose this one is.
    house.dns.set(`sub.${name}`, { A: [HERE] })
    await added(`sub.${name}`, second)
    const held = await added(name, first)
    assert.deepEqual(codes(held), ['txt_missing'])
    house.dns.set(`_sluice.${name}`, { TXT: [proof(held)?.value ?? ''] })
    assert.equal((await check(held.id, first)).status, 'active')
    const challenger = await added(name, second)
    const values = [proof(challenger)?.value ?? '', proof(held)?.value ?? '']
    house.dns.set(`_sluice.${name}`, { TXT: values })
    const refused = await check(challenger.id, second)
    assert.deepEqual([refused.status, codes(refused)], ['pending', ['held_by_other']])
    // A resolver that fails forgets nothing.
    house.dns.set(`_sluice.${name}`, { state: 'servfail' })
    for (let times = 0; times < 4; times += 1) await check(held.id, first)
    house.dns.set(`_sluice.${name}`, { TXT: [values[0] ?? ''] })
    assert.deepEqual(codes(await check(challenger.id, second)), ['held_by_other'])
  })

  test('a name that was deleted is not picked up by DNS that was left behind', async () => {
    const { name, first, second } = await rivals()
    const { id } = await added(name, first)
    await did('DELETE', `/api/domains/${id}`, undefined, first)
    assert.equal((await house.visit(name, '/healthz')).status, 200, 'it is any other name from here on')
    const stranger = await added(name, second)
    assert.deepEqual([stranger.status, codes(stranger)], ['pending', ['txt_missing']])
    assert.equal((await added(name, first)).status, 'active', 'who had it needs nothing more')
    house.dns.set(`_sluice.${name}`, { TXT: [proof(stranger)?.value ?? ''] })
    assert.equal((await check(stranger.id, second)).status, 'active')
  })

  test('neither are names above and below one that another organization has', async () => {
    const { first, second } = await rivals()
    for (const name of ['go.zone.test', 'zone.test', 'a.b.go.zone.test', 'unrelated-zone.test'])
      house.dns.set(name, { A: [HERE] })
    assert.equal((await added('go.zone.test', first)).status, 'active')
    for (const name of ['zone.test', 'a.b.go.zone.test'])
      assert.deepEqual(codes(await added(name, second)), ['txt_missing'], name)
    assert.equal((await added('a.b.go.zone.test', first)).status, 'active')
    assert.equal((await added('unrelated-zone.test', second)).status, 'active')
  })

  test('where anybody may sign up pointing alone is never enough', async () => {
    const open = await startDomainHouse({ SIGN_UP: 'open' })
    try {
      const as = await seedSignedIn(open)
      open.dns.set('go.open.test', { A: [HERE] })
      const created = await add('go.open.test', as, open)
      assert.ok(proof(created), 'what is needed is said at once')
      const domain = await check(created.id, as, open)
      assert.deepEqual([domain.status, codes(domain)], ['pending', ['txt_missing']])
      open.dns.set('_sluice.go.open.test', { TXT: [proof(domain)?.value ?? ''] })
      assert.equal((await check(domain.id, as, open)).status, 'active')
    } finally {
      await open.end()
    }
  })
})
