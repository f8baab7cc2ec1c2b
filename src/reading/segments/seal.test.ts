// Sealing on a real database: facts of clicks and conversions that came through the service equal the clicks.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { newId, openTestHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedBot, seedOffer } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { assertSealed, readSegments, rowsByDay } from '../../../tests/support/segments.ts'
import { aClick } from '../../../tests/support/visits.ts'
import { DAY_MS } from '../../contract/days.ts'
import type { Click } from '../../intake/clicks/click.ts'
import { storeAbsentClicks, storeClicks } from '../../intake/clicks/store.ts'
import { mostRests, sealAll } from './seal.ts'

const SECRET = 'a secret that only tests know'
let fresh: FreshDatabase
let house: TestHouse
const folder = mkdtempSync(join(tmpdir(), 'sluice-seal-'))
before(async () => {
  fresh = await freshDatabase()
  // The house neither seals nor checks in the background: the test does.
  house = await openTestHouse(fresh.database, { DATA_DIR: folder, SECRET, ROLE: 'serve' })
})
after(async () => {
  await house.close()
  await fresh.drop()
  rmSync(folder, { recursive: true, force: true })
})

const seal = () => sealAll(fresh.database.worker, house.ground.secrets)
const assertAll = (org_id: number) => assertSealed(fresh.database, house.ground.secrets, org_id)
const store = (clicks: Click[]) => storeClicks(fresh.database.clicks, clicks)

const PRIVATE = {
  ip_hash: 'a1b2c3d4e5f60718',
  ip_encrypted: '5ec4e75ec4e75ec4',
  user_agent: 'PrivateAgent/1.0',
  fbclid: 'private-fbclid',
  gclid: 'private-gclid',
  gbraid: 'private-gbraid',
  wbraid: 'private-wbraid',
  ttclid: 'private-ttclid',
}

/** A click with every column set, made `days` ago. */
function click(org_id: number, more: Partial<Click> = {}, days = 0): Click {
  const id = newId(Date.now() - days * DAY_MS)
  const of = {
    landing_id: newId(),
    ad_account_id: newId(),
    visitor_id: newId(),
    visitor_is_new: true,
    ref_id: `ref ${newId()}`,
  }
  const said = { sub1: 'zone "7"', sub5: 'ünï\\', click_flow_node_path: 'a>b', os: null, platform: 'facebook' }
  return { ...aClick(house.ground.secrets.clickKey, org_id, { ...PRIVATE, ...of, ...said, ...more }), id }
}

async function send(owner: SignedIn, id: string, body: object): Promise<string> {
  const answer = await house.call('POST', '/api/events', {
    cookie: owner.cookie,
    body: { clickId: toWireId(id), ...body },
  })
  assert.ok(answer.statusCode === 200 || answer.statusCode === 201, answer.body)
  return String(answer.data()['id'])
}

const revise = async (owner: SignedIn, event_id: string, body: object) => {
  const answer = await house.call('POST', `/api/events/${event_id}/revisions`, { cookie: owner.cookie, body })
  assert.equal(answer.statusCode, 200, answer.body)
}

test('new clicks, conversions, bots, costs and verdicts are the same in segments as in clicks', async () => {
  const owner = await seedSignedIn(house)
  const { org_id } = owner
  const [offer_id, bot_id] = [await seedOffer(fresh.database, org_id), await seedBot(fresh.database, org_id, 'a_bot')]
  const priced = { cost_counts: true, cost_original: '0.25', cost_currency: 'USD' }
  const plain = click(org_id, { offer_id, cost: '0.123456789', ...priced })
  const unread = click(org_id, { ...priced, cost: null, cost_original: null })
  const crawler = click(org_id, { tracked: false, cost: '0.5', ...priced, cost_counts: false })
  const started = click(org_id, { bot_id })
  const late = click(org_id, {}, 40)
  const seldom = click(org_id, {
    visitor_id: null,
    sub1: null,
    geo: null,
    visitor_is_new: null,
    test: true,
    tracked: false,
  })
  await store([plain, unread, crawler, started, late, seldom])
  await seal()
  await assertAll(org_id)
  const event = await send(owner, plain.id, { type: 'deposit', nonce: 'a', payout: '12.5' })
  await send(owner, plain.id, { type: 'ftd', nonce: 'b', payout: '0.000001' })
  await send(owner, crawler.id, { type: 'registration', nonce: 'c' })
  await send(owner, started.id, { type: 'bot_start', payload: { telegram_user_id: '4711' } })
  await send(owner, late.id, { type: 'bot_start', payload: { telegram_user_id: '4712', bot_id: toWireId(bot_id) } })
  await send(owner, seldom.id, { type: 'lead', nonce: 'd' })
  await seal()
  await assertAll(org_id)
  await revise(owner, event, { status: 'pending', amount: '3' })
  await revise(owner, event, { status: 'approved', amount: '4' })
  await send(owner, late.id, { type: 'lead', nonce: 'e', payout: '7' })
  const again = { ...click(org_id), sub2: 'replayed' }
  await storeAbsentClicks(fresh.database.clicks, org_id, [again, plain])
  await storeAbsentClicks(fresh.database.clicks, org_id, [again])
  await seal()
  await assertAll(org_id)
  await revise(owner, event, { status: 'rejected', reason: 'fraud' })
  await seal()
  await assertAll(org_id)
  assert.equal((await rowsByDay(fresh.database, org_id)).size, 2)
})

test('a portion is sealed completely or not at all: where a segment cannot be stored, all of it waits', async () => {
  const { org_id } = await seedSignedIn(house)
  await store([click(org_id), click(org_id, {}, 3)])
  const { schema } = fresh.database
  await schema.schema.alterTable('segments').renameTo('segments_away').execute()
  await assert.rejects(seal(), /segments/)
  await schema.schema.alterTable('segments_away').renameTo('segments').execute()
  const { rows } = await fresh.database.reads.query('select id from click_sheet where org_id = $1', [org_id])
  assert.equal(rows.length, 1)
  await seal()
  await assertAll(org_id)
})

test('a portion has five thousand clicks, the oldest first, however many share a sheet', async () => {
  const { org_id } = await seedSignedIn(house)
  const midnight = Date.now() - (Date.now() % DAY_MS)
  const made = () => ({ ...click(org_id), id: newId(midnight) })
  await store([made()])
  for (let at = 0; at < 10; at += 1) await store(Array.from({ length: 500 }, made))
  await store([made()])
  await seal()
  const { rows } = await fresh.database.reads.query('select rows from segments where org_id = $1 order by id', [org_id])
  assert.deepEqual(
    rows.map(segment => segment.rows),
    [5001, 1],
  )
})

test('sealing that is behind rests less', () => {
  assert.deepEqual([0, 14_999, 15_000, 30_000, -60_000].map(mostRests), [undefined, undefined, 8, 1, undefined])
})

test('organizations that share a transaction have separate facts and separate visitor hashes', async () => {
  const orgs = [await seedSignedIn(house), await seedSignedIn(house), await seedSignedIn(house)]
  const visitor_id = newId()
  const bot_id = newId()
  await store(
    orgs.flatMap(({ org_id }, at) => [
      click(org_id, { sub1: `only of ${at}`, visitor_id }),
      click(org_id, { tracked: at !== 1, bot_id: at === 2 ? bot_id : null }),
    ]),
  )
  await seal()
  const visitors = new Set<bigint | null>()
  for (const { org_id } of orgs) {
    await assertAll(org_id)
    for (const rows of (await rowsByDay(fresh.database, org_id)).values()) visitors.add(rows[0]?.visitor ?? null)
  }
  assert.equal(visitors.size, orgs.length)
})

test('nothing that names a visitor is in a segment', async () => {
  const { org_id } = await seedSignedIn(house)
  const one = click(org_id)
  await store([one])
  await seal()
  const [segment] = await readSegments(fresh.database, org_id)
  assert.ok(segment)
  const [row] = (await rowsByDay(fresh.database, org_id)).get(segment.day) ?? []
  assert.ok(row)
  const said = Object.entries(row).map(([, value]) => String(value))
  const hidden = [
    ...Object.values(PRIVATE),
    one.id,
    toWireId(one.id),
    one.visitor_id ?? '',
    one.visitor_id?.replaceAll('-', '') ?? '',
  ]
  for (const value of hidden) {
    assert.ok(value !== '' && !said.some(text => text.includes(value)), value)
    // Also in the raw bytes, because short texts stay readable in a compressed page.
    assert.ok(!segment.body.includes(value), value)
    assert.ok(!segment.body.includes(Buffer.from(value.replaceAll('-', ''), 'hex')) || /[^0-9a-f-]/.test(value), value)
  }
})

const [BATCHES, KILLS] = process.env['SLUICE_TEST_ALL'] ? [60, 8] : [24, 4]

test('under load, with several sealers that are killed again and again, the segments equal the clicks', async () => {
  const owners = [await seedSignedIn(house), await seedSignedIn(house)]
  const { url } = fresh
  let kills = 0
  let isOver = false
  const die = async () => {
    while (!isOver) {
      const child = fork(join(import.meta.dirname, '../../../tests/support/sealer.ts'), [url, SECRET], { execArgv: [] })
      const ended = once(child, 'exit')
      for (let turns = 1 + Math.floor(Math.random() * 4); turns > 0 && !isOver; turns -= 1)
        await Promise.race([once(child, 'message'), ended])
      // At a random moment of its work.
      child.kill('SIGKILL')
      await ended
      kills += 1
    }
  }
  const load = async () => {
    for (let batch = 0; batch < BATCHES || kills < KILLS; batch += 1) {
      const clicks = owners.flatMap(({ org_id }) =>
        Array.from({ length: 15 }, (_, at) =>
          click(org_id, { sub2: `${batch % 7}`, tracked: at > 0 }, at === 1 ? 30 : 0),
        ),
      )
      await store(clicks)
      await Promise.all(
        owners.map(owner => {
          const own = clicks.filter(({ org_id }) => org_id === owner.org_id)
          return Promise.all(
            [0, 1, 2, 14].map(at =>
              send(owner, own[at]?.id ?? '', { type: at === 2 ? 'ftd' : 'lead', nonce: `${batch}`, payout: `${at}.5` }),
            ),
          )
        }),
      )
      if (batch % 3 === 0) await seal()
    }
    isOver = true
  }
  await Promise.all([load(), die(), die()])
  await seal()
  for (const { org_id } of owners) await assertAll(org_id)
})
