// What Google suspects of names in service, asked by a worker of a Google of our own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HERE, startDomainHouse } from '../../../tests/support/domains.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { startWebRisk, WEB_RISK_KEY } from '../../../tests/support/web-risk-fake.ts'

type Row = { id: string; name: string; flagged: { threats: string[]; since: string } | null }

test('names in service are looked up, what is suspected is shown with its beginning, and nothing that could not be renewed', async () => {
  const google = await startWebRisk()
  const house = await startDomainHouse()
  const worker = await house.second({ ROLE: 'work', WEB_RISK_KEY, WEB_RISK_BASE: google.origin })
  try {
    const owner = await seedSignedIn(house)
    const as = { cookie: owner.cookie }
    const add = async (name: string) => {
      const { id } = (await house.call('POST', '/api/domains', { ...as, body: { name } })).json<Row>()
      await house.call('POST', `/api/domains/${id}/check`, as)
      return id
    }
    const read = async (id: string) => (await house.call('GET', `/api/domains/${id}`, as)).json<Row>()
    /** As after half an hour. */
    const again = async () => {
      const before = google.asked.length
      await house.database.kysely
        .updateTable('domains')
        .set({ looked_up_at: new Date(Date.now() - 1_800_000).toISOString() })
        .where('org_id', '=', owner.org_id)
        .execute()
      return before
    }
    google.suspected.set('bad.test', ['SOCIAL_ENGINEERING'])
    for (const name of ['bad.test', 'good.test']) house.dns.set(name, { A: [HERE] })
    const [bad, good] = [await add('bad.test'), await add('good.test')]
    await add('pending.test')
    await eventually('it is flagged', async () => (await read(bad)).flagged !== null)
    await eventually('both were asked for', () => google.asked.length === 2)
    const first = (await read(bad)).flagged
    assert.deepEqual(first?.threats, ['SOCIAL_ENGINEERING'])
    assert.equal((await read(good)).flagged, null)
    assert.deepEqual(google.asked.toSorted(), ['bad.test', 'good.test'], 'nobody asks for names that are not proven')
    type Line = { kind: string; name: string }
    const { lines } = (await house.call('GET', '/api/attention', as)).json<{ lines: Line[] }>()
    assert.deepEqual(
      lines.filter(({ kind }) => kind === 'domain_flagged').map(({ name }) => name),
      ['bad.test'],
    )
    google.suspected.set('bad.test', ['SOCIAL_ENGINEERING', 'MALWARE'])
    await again()
    await eventually('more is suspected', async () => (await read(bad)).flagged?.threats.length === 2)
    assert.equal((await read(bad)).flagged?.since, first?.since)
    google.fail(503)
    await again()
    await eventually('an old verdict is not shown', async () => (await read(bad)).flagged === null)
    google.fail(undefined)
    await again()
    await eventually('it is shown again', async () => (await read(bad)).flagged !== null)
    google.suspected.clear()
    await again()
    await eventually('it is over', async () => (await read(bad)).flagged === null)
  } finally {
    await worker.end()
    await house.end()
    await google.close()
  }
})
