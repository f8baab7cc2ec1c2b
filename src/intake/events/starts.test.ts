// bot_start: a server's report and Telegram's report of a start are one event.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { seedOrganization, toWireId } from '../../../tests/support/house.ts'
import {
  readClick,
  seedBot,
  seedPlainCampaign,
  seedClick,
  seedOffer,
  seedRule,
  tally,
} from '../../../tests/support/intake.ts'
import { openQueue, type Queue } from '../../../tests/support/organization-queue.ts'
import { auditBooks } from '../../reading/audit/audit.ts'

let fresh: FreshDatabase
let queue: Queue
before(async () => {
  fresh = await freshDatabase()
  queue = openQueue(fresh.database)
})
after(async () => {
  await queue.close()
  await fresh.drop()
})

/** An organization with a bot, an offer of 9, a rule for starts, and a click. */
async function settle({ bound = false, payout_types = [] as string[] } = {}) {
  const { database } = fresh
  const { org_id } = await seedOrganization(database)
  const bot_id = await seedBot(database, org_id, 'Acme_Bot')
  const offer_id = await seedOffer(database, org_id, { payout: '9', payout_types })
  const campaign_id = await seedPlainCampaign(database, org_id, { offer_id })
  await seedRule(database, org_id, { event_type: 'bot_start' })
  const of = { campaign_id, offer_id, bot_id: bound ? bot_id : null }
  return { org_id, bot_id, offer_id, campaign_id, of, click: await seedClick(database, org_id, of) }
}
type Place = Awaited<ReturnType<typeof settle>>

let person = 1000
const someone = () => String((person += 1))
const start = ({ org_id, click }: Place, payload: object, more: object = {}) =>
  queue.send(org_id, click, { type: 'bot_start', payload: { ...payload }, ...more })
const own = ({ org_id, bot_id }: Place, telegram_user_id: string, click_id: string) =>
  queue.recordStart({ org_id, bot_id, telegram_user_id, click_id })
const tallyOf = ({ org_id }: Place) => tally(fresh.database, org_id)
const assertBooks = async ({ org_id }: Place) => assert.deepEqual(await auditBooks(fresh.database.reads, org_id), [])

describe('a start that names its bot', () => {
  test('is one event, whoever reports it first, by name in any case, with or without @, or by id', async () => {
    for (const named of [
      { bot_username: 'acme_bot' },
      { bot_username: '@ACME_BOT' },
      { bot_id: 'ID' },
      { bot_id: 'ID', bot_username: 'somebody_else' },
    ]) {
      for (const ownFirst of [true, false]) {
        const place = await settle()
        const telegram_user_id = someone()
        const bot = 'bot_id' in named ? { ...named, bot_id: toWireId(place.bot_id) } : named
        const call = () => start(place, { telegram_user_id, ...bot }, { nonce: 'n' })
        const told = () => own(place, telegram_user_id, place.click)
        const [first, second] = ownFirst ? [await told(), await call()] : [await call(), await told()]
        assert.equal(first.event.id, second.event.id)
        assert.deepEqual(await tallyOf(place), { events: 1, aliases: 1, charges: 1, deliveries: 1, balance: '9.95' })
        await assertBooks(place)
      }
    }
  })

  test('is one event when the click alone names the bot', async () => {
    const place = await settle({ bound: true })
    const telegram_user_id = someone()
    const first = await own(place, telegram_user_id, place.click)
    const second = await start(place, { telegram_user_id })
    assert.equal(second.event.id, first.event.id)
    assert.equal((await tallyOf(place)).events, 1)
  })

  test('is one event for every way its user’s number is written', async () => {
    const place = await settle()
    const first = await own(place, '4711', place.click)
    for (const [at, telegram_user_id] of [4711, '4711', '04711', 4711.0].entries()) {
      const { event } = await start(place, { telegram_user_id, bot_username: 'acme_bot' }, { nonce: String(at) })
      assert.equal(event.id, first.event.id)
    }
    assert.deepEqual(await tallyOf(place), { events: 1, aliases: 4, charges: 1, deliveries: 1, balance: '9.95' })
  })

  test('stays that event for its resends, although its bot has been deleted or the click bound since', async () => {
    const place = await settle()
    const telegram_user_id = someone()
    const payload = { telegram_user_id, bot_username: 'acme_bot' }
    const { event } = await start(place, payload, { nonce: 'n' })
    await fresh.database.reads.query('update bots set deleted_at = created_at where org_id = $1', [place.org_id])
    const again = await start(place, payload, { nonce: 'n' })
    assert.deepEqual([again.event.id, again.replayed], [event.id, true])
    await assert.rejects(start(place, payload, { nonce: 'other' }), { refusal: 'bot_not_found' })
    assert.equal((await tallyOf(place)).events, 1)
  })

  test('on another click raises no second click and moves no second revenue, and its visitor is the same person', async () => {
    const place = await settle()
    const telegram_user_id = someone()
    const visitor_id = crypto.randomUUID()
    const elsewhere = await seedClick(fresh.database, place.org_id, { ...place.of, visitor_id })
    const first = await start(place, { telegram_user_id, bot_username: 'acme_bot' }, { payout: '3' })
    const second = await start(
      { ...place, click: elsewhere },
      { telegram_user_id, bot_username: 'acme_bot' },
      { payout: '4' },
    )
    assert.equal(second.event.id, first.event.id)
    assert.equal(second.event.payout, '3')
    assert.deepEqual(await readClick(fresh.database, place.org_id, elsewhere), {
      status: 0,
      stages: 1,
      tracked: true,
      revenue: null,
      bot_id: null,
    })
    await queue.send(place.org_id, elsewhere, { type: 'lead' })
    assert.equal((await tallyOf(place)).charges, 1)
    await assertBooks(place)
  })
})

describe('the payout of a merged start', () => {
  test('is the first explicit one, and revenue moves by the difference', async () => {
    const place = await settle()
    const telegram_user_id = someone()
    const payload = { telegram_user_id, bot_username: 'acme_bot' }
    const revenue = async () => (await readClick(fresh.database, place.org_id, place.click))?.revenue
    await own(place, telegram_user_id, place.click)
    assert.equal(await revenue(), null)
    assert.equal((await start(place, payload, { nonce: 'a' })).event.payout, null)
    assert.equal((await start(place, payload, { nonce: 'b', payout: '2.5' })).event.payout, '2.5')
    assert.equal(await revenue(), '2.5')
    assert.equal((await start(place, payload, { nonce: 'c', payout: '7' })).event.payout, '2.5')
    assert.equal(await revenue(), '2.5')
    assert.deepEqual(await tallyOf(place), { events: 1, aliases: 3, charges: 1, deliveries: 1, balance: '9.95' })
    await assertBooks(place)
  })

  test('replaces an inherited one, also by zero, on the click the start stands on', async () => {
    for (const [payout, revenue] of [
      ['20', '20'],
      ['1', '1'],
      ['0', null],
    ] as const) {
      const place = await settle()
      const telegram_user_id = someone()
      const payload = { telegram_user_id, bot_username: 'acme_bot' }
      assert.equal((await start(place, payload, { nonce: 'a' })).event.payout, '9')
      const elsewhere = await seedClick(fresh.database, place.org_id, place.of)
      const { event } = await start({ ...place, click: elsewhere }, payload, { payout })
      assert.deepEqual([event.payout, event.click_id], [payout, place.click])
      assert.equal((await readClick(fresh.database, place.org_id, place.click))?.revenue, revenue)
      assert.equal((await readClick(fresh.database, place.org_id, elsewhere))?.revenue, null)
      await assertBooks(place)
    }
  })

  test('of our own start is the offer’s only where the offer names the type', async () => {
    const [unnamed, named] = [await settle(), await settle({ payout_types: ['bot_start'] })]
    assert.equal((await own(unnamed, someone(), unnamed.click)).event.payout, null)
    assert.equal((await own(named, someone(), named.click)).event.payout, '9')
    await assertBooks(named)
  })
})

describe('a start without a bot', () => {
  test('is an event of its own beside ours, and costs no second charge', async () => {
    const place = await settle()
    const telegram_user_id = someone()
    const plain = await seedClick(fresh.database, place.org_id, place.of)
    const ours = await own(place, telegram_user_id, place.click)
    const { event } = await queue.send(place.org_id, plain, { type: 'bot_start', payload: { telegram_user_id } })
    assert.notEqual(event.id, ours.event.id)
    assert.deepEqual(await tallyOf(place), { events: 2, aliases: 0, charges: 1, deliveries: 2, balance: '9.95' })
    await assertBooks(place)
  })

  test('is what a click names whose bot was deleted', async () => {
    const place = await settle({ bound: true })
    await fresh.database.reads.query('update bots set deleted_at = created_at where org_id = $1', [place.org_id])
    const { event } = await start(place, { telegram_user_id: someone() }, { nonce: 'n' })
    assert.equal(event.nonce, 'n')
    assert.equal((await tallyOf(place)).aliases, 0)
  })
})

describe('our own start', () => {
  test('binds its click to the bot, also when the person has started before over another click', async () => {
    const place = await settle()
    const telegram_user_id = someone()
    const later = await seedClick(fresh.database, place.org_id, place.of)
    const first = await own(place, telegram_user_id, place.click)
    const second = await own(place, telegram_user_id, later)
    assert.deepEqual([second.event.id, second.replayed], [first.event.id, true])
    for (const click of [place.click, later])
      assert.equal((await readClick(fresh.database, place.org_id, click))?.bot_id, place.bot_id)
    assert.equal((await tallyOf(place)).events, 1)
    await assertBooks(place)
  })

  test('on an unknown click is refused', async () => {
    const place = await settle()
    await assert.rejects(own(place, someone(), crypto.randomUUID()), { refusal: 'click_not_found' })
  })

  test('of another type stands beside one that was sent', async () => {
    const place = await settle()
    const common = {
      org_id: place.org_id,
      click_id: place.click,
      type: 'channel_join' as const,
      telegram_user_id: someone(),
    }
    const first = await queue.recordOwn({ ...common, nonce: 'channel 1', bot_id: place.bot_id })
    const again = await queue.recordOwn({ ...common, nonce: 'channel 1', bot_id: place.bot_id })
    const sent = await queue.send(place.org_id, place.click, { type: 'channel_join', nonce: 'channel 1' })
    assert.deepEqual([again.event.id, again.replayed], [first.event.id, true])
    assert.notEqual(sent.event.id, first.event.id)
    assert.equal((await tallyOf(place)).events, 2)
    await assertBooks(place)
  })
})

test('the first payout moves the revenue of the start’s own click, also beside other reports of that start on another', async () => {
  const place = await settle()
  const payload = { telegram_user_id: someone(), bot_username: 'acme_bot' }
  await own(place, payload.telegram_user_id, place.click)
  const elsewhere = await seedClick(fresh.database, place.org_id, place.of)
  const [, paid] = await Promise.all([
    own(place, payload.telegram_user_id, elsewhere),
    start({ ...place, click: elsewhere }, payload, { payout: '4' }),
  ])
  assert.equal(paid?.event.payout, '4')
  assert.equal((await readClick(fresh.database, place.org_id, place.click))?.revenue, '4')
  await assertBooks(place)
})

test('a restricted key may not merge into a start outside of its campaigns', async () => {
  const place = await settle()
  const telegram_user_id = someone()
  const mine = await seedPlainCampaign(fresh.database, place.org_id)
  const click = await seedClick(fresh.database, place.org_id, { campaign_id: mine })
  await own(place, telegram_user_id, place.click)
  const body = { type: 'bot_start' as const, payload: { telegram_user_id, bot_username: 'acme_bot' } }
  await assert.rejects(queue.send(place.org_id, click, body, { campaigns: [mine] }), {
    refusal: 'campaign_scope_forbidden',
  })
  assert.equal((await tallyOf(place)).aliases, 0)
})

test('calls and our own starts of a few people, all at once and in any order, leave one start per person', async () => {
  const second = openQueue(fresh.database)
  const place = await settle()
  const people = Array.from({ length: 8 }, someone)
  const clicks = await Promise.all(people.map(() => seedClick(fresh.database, place.org_id, place.of)))
  const work = people.flatMap((telegram_user_id, at) => {
    const click = clicks[at] as string
    const payload = { telegram_user_id, bot_username: 'acme_bot' }
    const body = { type: 'bot_start' as const, payload }
    return Array.from({ length: 12 }, (_, time) => () => {
      const through = time % 2 === 0 ? queue : second
      if (time % 3 === 0) return through.recordStart({ ...place, telegram_user_id, click_id: click })
      return through.send(place.org_id, click, {
        ...body,
        nonce: String(time),
        ...(time % 4 === 1 ? { payout: String(time) } : {}),
      })
    })
  })
  for (let at = work.length - 1; at > 0; at -= 1) {
    const other = randomInt(at + 1)
    ;[work[at], work[other]] = [work[other] as (typeof work)[number], work[at] as (typeof work)[number]]
  }
  const recorded = await Promise.all(work.map(one => one()))
  assert.equal(new Set(recorded.map(({ event }) => event.id)).size, people.length)
  assert.deepEqual(await tallyOf(place), { events: 8, aliases: 64, charges: 8, deliveries: 8, balance: '9.6' })
  const { rows } = await fresh.database.reads.query(
    'select 1 from events where org_id = $1 and not payout_is_explicit',
    [place.org_id],
  )
  assert.equal(rows.length, 0)
  await assertBooks(place)
  await second.close()
})
