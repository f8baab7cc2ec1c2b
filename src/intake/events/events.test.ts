// Conversions through the gate: what is recorded, the answers, and resends.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seedAdAccount } from '../../../tests/support/ad-accounts.ts'
import { type Sent, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import {
  readClick,
  type ClickFields,
  seedPlainCampaign,
  seedClick,
  seedOffer,
  seedRule,
  tally,
} from '../../../tests/support/intake.ts'
import { seedSender, seedSenderWithClick } from '../../../tests/support/senders.ts'
import { EVENT_TYPES } from '../../contract/event-types.ts'
import { toUuid } from '../../contract/ids.ts'
import { auditBooks } from '../../reading/audit/audit.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

const settle = (of: Parameters<typeof seedSender>[1] = {}) => seedSender(house, of)
const settleWithClick = (click: ClickFields = {}) => seedSenderWithClick(house, click)
const send = ({ key }: { key: string }, body: unknown, sent: Sent = {}) =>
  house.call('POST', '/api/events', { key, body, ...sent })
const tallyOf = ({ org_id }: { org_id: number }) => tally(house.database, org_id)
const clickOf = ({ org_id }: { org_id: number }, id: string) => readClick(house.database, org_id, id)
const assertBooks = async ({ org_id }: { org_id: number }) =>
  assert.deepEqual(await auditBooks(house.database.reads, org_id), [])

describe('a conversion', () => {
  test('is answered with its row, exactly nine fields, and stored with its click, charge and delivery', async () => {
    const place = await settle()
    const offer_id = await seedOffer(house.database, place.org_id, { payout: '12.50' })
    const campaign_id = await seedPlainCampaign(house.database, place.org_id, { offer_id })
    const click_id = await seedClick(house.database, place.org_id, { campaign_id, offer_id })
    const rule = await seedRule(house.database, place.org_id, { event_type: 'lead' })
    const payload = { telegram_user_id: 77, note: 'Ж😀', deep: [{ a: null }] }
    const answer = await send(place, {
      clickId: toWireId(click_id),
      type: 'lead',
      nonce: 'order-1',
      payload,
      unknown: 1,
    })
    assert.equal(answer.statusCode, 201)
    assert.equal(answer.headers['idempotent-replayed'], undefined)
    const { id, created_at, ...row } = answer.data()
    assert.match(String(id), /^[0-7][0-9a-hjkmnp-tv-z]{25}$/)
    assert.match(String(created_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(row, {
      click_id: toWireId(click_id),
      campaign_id: toWireId(campaign_id),
      offer_id: toWireId(offer_id),
      type: 'lead',
      payout: '12.5',
      nonce: 'order-1',
      payload,
    })
    assert.deepEqual(await tallyOf(place), { events: 1, aliases: 0, charges: 1, deliveries: 1, balance: '9.95' })
    assert.deepEqual(await clickOf(place, click_id), {
      status: 4,
      stages: 17,
      tracked: true,
      revenue: '12.5',
      bot_id: null,
    })
    const { rows } = await house.database.reads.query(
      'select target_id, kind, event_id from deliveries where org_id = $1',
      [place.org_id],
    )
    assert.deepEqual(rows, [{ target_id: rule, kind: 'postback', event_id: toUuid(String(id)) }])
    await assertBooks(place)
  })

  test('of every type is taken, and raises its click only where the ladder says so', async () => {
    const raised: Record<string, number> = { land: 1, bot_start: 2, registration: 3, lead: 4, deposit: 5, ftd: 6 }
    const place = await settle()
    for (const type of EVENT_TYPES) {
      const click_id = await seedClick(house.database, place.org_id)
      const answer = await send(place, {
        clickId: toWireId(click_id),
        type,
        payload: { telegram_user_id: `of ${type}` },
      })
      assert.equal(answer.statusCode, 201, type)
      assert.equal((await clickOf(place, click_id))?.status, raised[type] ?? 0, type)
    }
    assert.equal((await tallyOf(place)).charges, EVENT_TYPES.length)
    await assertBooks(place)
  })

  test('never lets a status fall, and keeps every stage', async () => {
    const place = await settleWithClick()
    for (const type of ['deposit', 'land', 'lead']) await send(place, { clickId: place.clickId, type })
    assert.deepEqual(await clickOf(place, place.click_id), {
      status: 5,
      stages: 1 + 2 + 16 + 32,
      tracked: true,
      revenue: null,
      bot_id: null,
    })
    await assertBooks(place)
  })

  test('is the same in whatever spelling its click id comes', async () => {
    const { clickId, click_id, ...place } = await settleWithClick()
    const spellings = [clickId, clickId.toUpperCase(), click_id, click_id.toUpperCase(), click_id.replaceAll('-', '')]
    const ids = []
    for (const spelling of spellings) ids.push((await send(place, { clickId: spelling, type: 'lead' })).data()['id'])
    assert.equal(new Set(ids).size, 1)
    assert.equal((await tallyOf(place)).events, 1)
  })

  test('proves an untracked click: it counts, is billed and delivered', async () => {
    const place = await settleWithClick({ tracked: false })
    await seedRule(house.database, place.org_id, { event_type: 'deposit' })
    await send(place, { clickId: place.clickId, type: 'deposit', payout: 5 })
    assert.equal((await clickOf(place, place.click_id))?.tracked, true)
    assert.deepEqual(await tallyOf(place), { events: 1, aliases: 0, charges: 1, deliveries: 1, balance: '9.95' })
    await assertBooks(place)
  })

  test('on a test click is kept, but neither billed nor delivered nor counted', async () => {
    const place = await settleWithClick({ test: true })
    await seedRule(house.database, place.org_id, { event_type: 'lead' })
    const answer = await send(place, {
      clickId: place.clickId,
      type: 'lead',
      payout: 5,
      payload: { telegram_user_id: 9 },
    })
    assert.equal(answer.statusCode, 201)
    assert.deepEqual(await tallyOf(place), { events: 1, aliases: 0, charges: 0, deliveries: 0, balance: '10' })
    assert.deepEqual(await clickOf(place, place.click_id), {
      status: 4,
      stages: 17,
      tracked: false,
      revenue: '5',
      bot_id: null,
    })
    await assertBooks(place)
  })

  test('goes to the ad account of its campaign, else to the only one of the platform its click came from', async () => {
    const place = await settle()
    const { database } = house
    const { org_id } = place
    const account = (seeded: Parameters<typeof seedAdAccount>[2]) => seedAdAccount(database, org_id, seeded)
    const [meta, tiktok, off, gone] = [
      await account({ platform: 'meta' }),
      await account({ platform: 'tiktok', sends: ['ftd'] }),
      await account({ platform: 'google', state: 'off' }),
      await account({ platform: 'google', deleted_at: new Date().toISOString() }),
    ]
    const broken = await account({ platform: 'google', state: 'broken' })
    await seedAdAccount(database, (await settle()).org_id, { platform: 'meta' })
    const told = async (click: ClickFields & { bound?: string }, type = 'lead') => {
      const { bound, ...rest } = click
      const campaign_id = await seedPlainCampaign(database, org_id, { ad_account_id: bound ?? null })
      const clickId = toWireId(await seedClick(database, org_id, { campaign_id, ...rest }))
      await send(place, { clickId, type })
      const { rows } = await database.reads.query<{ kind: string; target_id: string }>(
        'select kind, target_id from deliveries where org_id = $1 and campaign_id = $2',
        [org_id, campaign_id],
      )
      assert.ok(rows.length <= 1 && rows.every(({ kind }) => kind === 'ad_account'))
      return rows[0]?.target_id
    }
    assert.equal(await told({ bound: meta }), meta)
    assert.equal(await told({ bound: meta, platform: 'google' }), meta)
    assert.equal(await told({ platform: 'meta' }), meta)
    assert.equal(await told({}), undefined)
    assert.equal(await told({ platform: 'tiktok' }), undefined, 'the account sends no leads')
    assert.equal(await told({ platform: 'tiktok' }, 'ftd'), tiktok)
    assert.equal(await told({ bound: off, platform: 'meta' }), undefined)
    assert.equal(await told({ bound: gone, platform: 'meta' }), undefined)
    assert.equal(await told({ platform: 'google' }), broken, 'it waits for the account to be connected again')
    assert.equal(await told({ bound: meta, test: true }), undefined)
    const second = await account({ platform: 'meta', sends: [] })
    assert.equal(await told({ platform: 'meta' }), undefined, 'of two accounts none is guessed')
    assert.equal(await told({ bound: second }), undefined)
    assert.equal(await told({ bound: meta }), meta)
  })

  test('fires the rules of its type: of all campaigns and of its own, the active ones', async () => {
    const place = await settle()
    const [mine, other] = [
      await seedPlainCampaign(house.database, place.org_id),
      await seedPlainCampaign(house.database, place.org_id),
    ]
    const meant = [
      await seedRule(house.database, place.org_id, { event_type: 'lead' }),
      await seedRule(house.database, place.org_id, { event_type: 'lead', campaign_id: mine }),
    ]
    await seedRule(house.database, place.org_id, { event_type: 'lead', campaign_id: other })
    await seedRule(house.database, place.org_id, { event_type: 'deposit' })
    await seedRule(house.database, place.org_id, { event_type: 'lead', active: false })
    await seedRule(house.database, (await settle()).org_id, { event_type: 'lead' })
    await send(place, {
      clickId: toWireId(await seedClick(house.database, place.org_id, { campaign_id: mine })),
      type: 'lead',
    })
    const { rows } = await house.database.reads.query<{ target_id: string }>(
      'select target_id from deliveries where org_id = $1',
      [place.org_id],
    )
    assert.deepEqual(rows.map(row => row.target_id).sort(), meant.sort())
    await assertBooks(place)
  })
})

describe('the payout', () => {
  const recorded = async (offer: { payout: string | null; payout_types?: string[] }, body: object) => {
    const place = await settle()
    const offer_id = await seedOffer(house.database, place.org_id, offer)
    const click_id = await seedClick(house.database, place.org_id, { offer_id })
    const answer = await send(place, { clickId: toWireId(click_id), type: 'lead', ...body })
    assert.equal(answer.statusCode, 201, answer.body)
    await assertBooks(place)
    return [answer.data()['payout'], (await clickOf(place, click_id))?.revenue]
  }

  test('is taken as a number or a plain decimal string, exactly, with six decimals', async () => {
    const offer = { payout: '9' }
    assert.deepEqual(await recorded(offer, { payout: 12.5 }), ['12.5', '12.5'])
    assert.deepEqual(await recorded(offer, { payout: '12.50' }), ['12.5', '12.5'])
    assert.deepEqual(await recorded(offer, { payout: 0.1 }), ['0.1', '0.1'])
    assert.deepEqual(await recorded(offer, { payout: '0.0000005' }), ['0.000001', '0.000001'])
    assert.deepEqual(await recorded(offer, { payout: 1e-7 }), ['0', null])
    assert.deepEqual(await recorded(offer, { payout: 1_000_000 }), ['1000000', '1000000'])
    assert.deepEqual(await recorded(offer, { payout: '1000000.00' }), ['1000000', '1000000'])
  })

  test('is the offer’s where none was sent or null, and explicit zero stays zero', async () => {
    assert.deepEqual(await recorded({ payout: '9.990' }, {}), ['9.99', '9.99'])
    assert.deepEqual(await recorded({ payout: '9.99' }, { payout: null }), ['9.99', '9.99'])
    assert.deepEqual(await recorded({ payout: '9.99' }, { payout: 0 }), ['0', null])
    assert.deepEqual(await recorded({ payout: null }, {}), [null, null])
  })

  test('is the offer’s for the types it names, or for all when it names none', async () => {
    assert.deepEqual(await recorded({ payout: '9', payout_types: ['lead', 'ftd'] }, {}), ['9', '9'])
    assert.deepEqual(await recorded({ payout: '9', payout_types: ['deposit'] }, {}), [null, null])
    assert.deepEqual(await recorded({ payout: '9', payout_types: ['deposit'] }, { payout: '3' }), ['3', '3'])
    assert.deepEqual(await recorded({ payout: '9' }, { type: 'custom_8' }), ['9', '9'])
  })

  test('is null on a click without an offer', async () => {
    const place = await settleWithClick()
    assert.equal((await send(place, { clickId: place.clickId, type: 'lead' })).data()['payout'], null)
  })

  test('adds up over the events of a click, exactly', async () => {
    const place = await settleWithClick()
    for (const [at, payout] of ['0.1', '0.2', 0, '999999.999999'].entries())
      await send(place, { clickId: place.clickId, type: 'deposit', nonce: String(at), payout })
    assert.equal((await clickOf(place, place.click_id))?.revenue, '1000000.299999')
    await assertBooks(place)
  })
})

describe('a resend', () => {
  test('is answered with the stored row and the header, and does nothing else, whatever it says', async () => {
    const place = await settleWithClick()
    await seedRule(house.database, place.org_id, { event_type: 'lead' })
    const body = { clickId: place.clickId, type: 'lead', nonce: 'n', payout: 5, payload: { b: 1, a: [2, { z: 1e21 }] } }
    const first = await send(place, body)
    const before = await tallyOf(place)
    for (const other of [body, { ...body, payout: 6 }, { ...body, payload: { telegram_user_id: 5 } }]) {
      const again = await send(place, other)
      assert.equal(again.statusCode, 201)
      assert.equal(again.headers['idempotent-replayed'], 'true')
      assert.equal(again.body, first.body)
    }
    assert.deepEqual(await tallyOf(place), before)
    assert.equal((await clickOf(place, place.click_id))?.revenue, '5')
  })

  test('still answers when its click row is gone', async () => {
    const place = await settleWithClick()
    const first = await send(place, { clickId: place.clickId, type: 'lead', nonce: 'n' })
    await house.database.reads.query('delete from clicks where org_id = $1 and id = $2', [place.org_id, place.click_id])
    const again = await send(place, { clickId: place.clickId, type: 'lead', nonce: 'n' })
    assert.deepEqual([again.statusCode, again.body], [201, first.body])
    assert.equal((await send(place, { clickId: place.clickId, type: 'lead', nonce: 'other' })).statusCode, 403)
  })

  test('may carry its nonce in the body or in the header, where the body counts', async () => {
    const place = await settleWithClick()
    const body = { clickId: place.clickId, type: 'lead' }
    const headers = { 'idempotency-key': 'n' }
    const first = (await send(place, { ...body, nonce: 'n' })).data()
    const byHeader = await send(place, body, { headers })
    assert.deepEqual([byHeader.data()['id'], byHeader.headers['idempotent-replayed']], [first['id'], 'true'])
    const both = (await send(place, { ...body, nonce: 'm' }, { headers })).data()
    assert.notEqual(both['id'], first['id'])
    assert.equal(both['nonce'], 'm')
    const nulled = await send(place, { ...body, nonce: null }, { headers })
    assert.equal(nulled.data()['id'], first['id'])
    assert.equal((await tallyOf(place)).events, 2)
  })

  test('with another nonce is another conversion of the same person, charged once', async () => {
    const place = await settleWithClick()
    for (const nonce of ['a', 'A', 'a ', 'é', 'e\u0301', '😀'.repeat(128), undefined])
      assert.equal((await send(place, { clickId: place.clickId, type: 'deposit', nonce, payout: 1 })).statusCode, 201)
    assert.deepEqual(await tallyOf(place), { events: 7, aliases: 0, charges: 1, deliveries: 0, balance: '9.95' })
    assert.equal((await clickOf(place, place.click_id))?.revenue, '7')
    await assertBooks(place)
  })
})
