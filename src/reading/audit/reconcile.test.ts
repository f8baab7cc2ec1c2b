import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { freshDatabase } from '../../../tests/support/database.ts'
import { seedKey, seedOrganization, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedClicks, seedRule } from '../../../tests/support/intake.ts'
import { openQueue } from '../../../tests/support/organization-queue.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { runSluice } from '../../../tests/support/sluice.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

/** An organization with three persons, four conversions and a rule. */
async function seedBooks() {
  const place = await seedSignedIn(house)
  await seedRule(house.database, place.org_id, { event_type: 'lead' })
  const queue = openQueue(house.database)
  const clicks = await seedClicks(house.database, place.org_id, 5)
  for (const click of clicks.slice(0, 3)) await queue.send(place.org_id, click, { payout: '2.5' })
  await queue.send(place.org_id, clicks[0] ?? '', { type: 'deposit', payout: '10' })
  await queue.close()
  return place
}

type Reconciliation = {
  holds: boolean
  figures: { name: string; kept: string; counted: string }[]
  findings: { check: string; wrong: string }[]
}
const reconcile = async (cookie: string) =>
  (await house.call('GET', '/api/billing/reconciliation', { cookie })).data() as Reconciliation

describe('one organization, counted again on its screen', () => {
  test('shows running figures beside their recount, and that they agree', async () => {
    const { cookie } = await seedBooks()
    const { holds, figures, findings } = await reconcile(cookie)
    assert.deepEqual([holds, findings], [true, []])
    assert.deepEqual(
      figures.map(({ name, kept, counted }) => [name, kept, counted]),
      [
        ['Persons charged', '3', '3'],
        ['Balance', '9.85', '9.85'],
        ['Clicks', '5', '5'],
        ['Leads', '3', '3'],
        ['Deposits', '1', '1'],
        ['First deposits', '0', '0'],
        ['Revenue', '17.5', '17.5'],
        ['Cost of clicks', '0', '0'],
        ['Conversions', '4', '4'],
      ],
    )
  })

  test('finds no fault where a rule fires once per person, but one where it never fired', async () => {
    const { org_id, cookie } = await seedSignedIn(house)
    const body = { event_type: 'lead', url: 'https://tracker.example/?c={click_id}', once_per_person: true }
    assert.equal((await house.call('POST', '/api/postbacks', { cookie, body })).statusCode, 201)
    const queue = openQueue(house.database)
    const clicks = await seedClicks(house.database, org_id, 3)
    for (const click of clicks) await queue.send(org_id, click, { payload: { telegram_user_id: 7 } })
    await queue.close()
    assert.deepEqual((await reconcile(cookie)).findings, [])
    await house.database.worker.query('delete from deliveries where org_id = $1', [org_id])
    const found = (await reconcile(cookie)).findings.map(({ check }) => check)
    assert.deepEqual(
      new Set(found),
      new Set(['every rule that was there fires for every event it means, and no other']),
    )
  })

  test('names what is wrong with ids of the API, and nothing of another organization', async () => {
    const [one, other] = [await seedBooks(), await seedBooks()]
    const { rows } = await house.database.worker.query<{ id: string }>(
      `delete from ledger where org_id = $1 and id = (select min(id::text)::uuid from ledger where org_id = $1 and kind = 'charge')
      returning person_id as id`,
      [one.org_id],
    )
    const { holds, figures, findings } = await reconcile(one.cookie)
    assert.equal(holds, false)
    assert.deepEqual(
      figures.filter(({ kept, counted }) => kept !== counted).map(({ name, kept, counted }) => [name, kept, counted]),
      [
        ['Persons charged', '2', '3'],
        ['Balance', '9.85', '9.9'],
      ],
    )
    assert.ok(
      findings.some(({ wrong }) => wrong === toWireId(rows[0]?.id ?? '')),
      JSON.stringify(findings),
    )
    assert.equal((await reconcile(other.cookie)).holds, true)
    assert.ok(!JSON.stringify(findings).includes(String(one.org_id)))
  })

  test('is for owners and admins, who may ask at once; members and keys are refused', async () => {
    const owner = await seedBooks()
    const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
    const answers = await Promise.all([owner, admin, owner].map(({ cookie }) => reconcile(cookie)))
    assert.ok(answers.every(({ holds }) => holds))
    const { cookie } = await seedSignedIn(house, { place: owner, role: 'member' })
    const refused = await house.call('GET', '/api/billing/reconciliation', { cookie })
    assert.deepEqual([refused.statusCode, refused.data()['code']], [403, 'role_forbidden'])
    const { secret: key } = await seedKey(house.database, owner, { rights: ['report'] })
    assert.equal((await house.call('GET', '/api/billing/reconciliation', { key })).statusCode, 403)
  })
})

test('npm run reconcile asks to migrate a database of an older version', async t => {
  const fresh = await freshDatabase()
  t.after(() => fresh.drop())
  await seedOrganization(fresh.database)
  await sql`drop table dropped_clicks`.execute(fresh.database.schema)
  const { code, stderr } = await runSluice({ DATABASE_URL: fresh.url, LOG_LEVEL: 'silent' }, { command: 'reconcile' })
  assert.equal(code, 1)
  assert.match(stderr, /^The reconciliation failed: the database lacks tables of this version: .* npm run migrate\n$/)
})

test('npm run reconcile ends with 0 while all books hold, and with 1 and the rows when one does not', async () => {
  const fresh = await freshDatabase()
  const command = () => runSluice({ DATABASE_URL: fresh.url, LOG_LEVEL: 'silent' }, { command: 'reconcile' })
  const place = await seedSignedIn({ ...house, database: fresh.database })
  const queue = openQueue(fresh.database)
  for (const click of await seedClicks(fresh.database, place.org_id, 2)) await queue.send(place.org_id, click, {})
  await queue.close()
  const right = await command()
  assert.deepEqual([right.code, right.stderr], [0, ''])
  assert.match(
    right.stdout,
    /^right {2}\w{26} {2}Acme: persons charged 2; balance 9\.9; clicks 2;.*\n1 organization, 0 wrong\n$/,
  )
  await fresh.database.worker.query('update balances set balance = 4 where org_id = $1', [place.org_id])
  const wrong = await command()
  assert.equal(wrong.code, 1)
  assert.match(
    wrong.stdout,
    /^WRONG.*balance 4, counted 9\.9[\s\S]*not so: the ledger adds up to the balance: balance 4, ledger 9\.90?\n/,
  )
  await fresh.drop()
})
