import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, toWireId } from '../../contract/ids.ts'
import { freshDatabase } from '../../../tests/support/database.ts'
import { seedChannel, seedLinks } from '../../../tests/support/invite-links.ts'
import { countFree, giveUpLink, keepLink, poolsOf } from './making.ts'
import { sweepLinks } from './sweep.ts'
import { linksOf } from './words.ts'
import { grantOf, inviteForClick, linkForClick, takeSharedGrant } from './invite-links.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>
const ORG = 7
const OTHER = 8

before(async () => {
  fresh = await freshDatabase()
})
after(() => fresh.drop())

const db = () => fresh.database.kysely
const ask = (channel_id: string, click_id: string, campaign_id: string | null = null, org_id = ORG) =>
  linkForClick(db(), { org_id, channel_id, click_id, campaign_id })

test('a click has one link of a channel, however often and by however many it is asked for, and no other click has it', async () => {
  const { id } = await seedChannel(db(), ORG)
  await seedLinks(db(), ORG, id, { count: 30 })
  const clicks = [newId(), newId(), newId()]
  const given = await Promise.all(clicks.flatMap(click => Array.from({ length: 8 }, () => ask(id, click))))
  assert.equal(new Set(given).size, 3)
  for (const [at, url] of given.entries()) {
    const found = await grantOf(db(), ORG, { url })
    assert.deepEqual([found?.click_id, found?.channel_id, found?.purpose], [clicks[Math.floor(at / 8)], id, 'pool'])
  }
  const left = await db().selectFrom('link_batches').select('left_over').where('channel_id', '=', id).execute()
  assert.equal(
    left.reduce((sum, { left_over }) => sum + left_over, 0),
    27,
  )
})

test('a link is known by its name at Telegram and by its address, and by nobody else', async () => {
  const { id } = await seedChannel(db(), ORG)
  const [link] = await seedLinks(db(), ORG, id)
  assert.ok(link)
  const named = await grantOf(db(), ORG, { name: toWireId(link.id), url: 'https://t.me/+abc…' })
  assert.deepEqual([named?.link_id, named?.click_id], [link.id, undefined])
  assert.equal((await grantOf(db(), ORG, { url: link.url }))?.link_id, link.id)
  assert.equal(await grantOf(db(), OTHER, { url: link.url, name: toWireId(link.id) }), undefined)
  assert.equal(await grantOf(db(), ORG, { name: 'summer' }), undefined)
  assert.equal(await ask(id, newId(), null, OTHER), undefined)
})

test('with none left clicks get the link that their campaign shares, and those of another campaign none', async () => {
  const { id } = await seedChannel(db(), ORG)
  const campaign_id = newId()
  const [shared] = await seedLinks(db(), ORG, id, { campaign_id })
  // What ends too soon is not given.
  await seedLinks(db(), ORG, id, { days: 1.9 })
  assert.equal(await ask(id, newId(), campaign_id), shared?.url)
  assert.equal(await ask(id, newId(), newId()), undefined)
  const publicly = await seedChannel(db(), ORG, { username: 'deals' })
  assert.equal(await ask(publicly.id, newId()), 'https://t.me/deals')
  const bare = { org_id: ORG, channel_id: publicly.id, click_id: newId(), campaign_id: null }
  assert.equal(await inviteForClick(db(), bare), undefined)
})

test('a click whose link is over, or was revoked, gets the shared one; a shared one that was revoked is replaced by the next', async () => {
  const { id, chat_id } = await seedChannel(db(), ORG)
  const campaign_id = newId()
  const [own] = await seedLinks(db(), ORG, id)
  const [shared] = await seedLinks(db(), ORG, id, { campaign_id })
  assert.ok(own !== undefined && shared !== undefined)
  const click = newId()
  assert.equal(await ask(id, click, campaign_id), own.url)
  const set = (changes: object) => db().updateTable('channel_links').set(changes).where('id', '=', own.id).execute()
  await set({ expires_at: new Date(Date.now() - 1000).toISOString() })
  assert.equal(await ask(id, click, campaign_id), shared.url)
  await set({ expires_at: new Date(Date.now() + 3_600_000).toISOString() })
  assert.equal(await ask(id, click, campaign_id), own.url)
  const of = { org_id: ORG, channel_id: id }
  const revoked = { url: 'https://t.me/+abc…', name: toWireId(own.id) }
  assert.equal(await giveUpLink(db(), { ...of, org_id: OTHER }, revoked), false)
  assert.deepEqual([await giveUpLink(db(), of, revoked), await giveUpLink(db(), of, revoked)], [true, false])
  assert.equal(await ask(id, click, campaign_id), shared.url)
  const made = { ...of, campaign_id, expires_at: null, chat_id: String(chat_id), join_mode: 'open' }
  const next = () => ({ ...made, id: newId(), url: `https://t.me/+${newId()}` })
  assert.equal(await keepLink(db(), next()), false)
  await giveUpLink(db(), of, { url: shared.url, name: '' })
  const another = next()
  assert.deepEqual([await keepLink(db(), another), await keepLink(db(), next())], [true, false])
  assert.equal(await ask(id, newId(), campaign_id), another.url)
})

test('of the clicks that share a link each is taken by one person, the newest first, and none that is too old', async () => {
  const { id } = await seedChannel(db(), ORG)
  const campaign_id = newId()
  const [shared] = await seedLinks(db(), ORG, id, { campaign_id })
  assert.ok(shared)
  const clicks = [newId(), newId(), newId()]
  for (const click of clicks) await ask(id, click, campaign_id)
  await db()
    .updateTable('shared_grants')
    .set({ granted_at: new Date(Date.now() - 7_200_000).toISOString() })
    .where('click_id', '=', clicks[0] ?? '')
    .execute()
  const since = new Date(Date.now() - 3_600_000).toISOString()
  const of = { org_id: ORG, link_id: shared.id, since }
  const take = (telegram_user_id: string, until = new Date(Date.now() + 60_000).toISOString()) =>
    db()
      .transaction()
      .execute(trx => takeSharedGrant(trx, { ...of, telegram_user_id, until }))
  assert.equal(await take('0', new Date(Date.now() - 60_000).toISOString()), undefined)
  assert.equal(await take('1'), clicks[2])
  assert.equal(await take('1'), clicks[2])
  assert.deepEqual((await Promise.all([take('2'), take('3')])).toSorted(), [clicks[1], undefined])
})

test('what a process held that is gone is given to nobody, what has ended is forgotten, and what was given is known as ever', async () => {
  const { id } = await seedChannel(db(), ORG)
  const links = await seedLinks(db(), ORG, id, { count: 48 })
  const batches = await db()
    .selectFrom('link_batches')
    .select('id')
    .where('channel_id', '=', id)
    .orderBy('id')
    .execute()
  const [held, ended, old] = batches
  assert.ok(held !== undefined && ended !== undefined && old !== undefined)
  const set = (batch: string, changes: object) =>
    db().updateTable('link_batches').set(changes).where('id', '=', batch).execute()
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
  await set(held.id, { state: 'leased', leased_by: newId(), lease_until: daysAgo(0.1) })
  await set(old.id, { state: 'dead', expires_at: daysAgo(61) })
  const { words } = await db()
    .selectFrom('link_batches')
    .select('words')
    .where('id', '=', old.id)
    .executeTakeFirstOrThrow()
  await db()
    .updateTable('channel_links')
    .set({ expires_at: daysAgo(61) })
    .where(
      'id',
      'in',
      linksOf(words).map(one => one.id),
    )
    .execute()
  const click = newId()
  const given = await ask(id, click)
  await set(ended.id, { expires_at: daysAgo(1) })
  await sweepLinks({ database: fresh.database })
  const states = await db()
    .selectFrom('link_batches')
    .select(['id', 'state'])
    .where('channel_id', '=', id)
    .orderBy('id')
    .execute()
  assert.deepEqual(states, [
    { id: held.id, state: 'lost' },
    { id: ended.id, state: 'dead' },
  ])
  assert.equal(await countFree(db(), { org_id: ORG, channel_id: id }, 7), 0)
  assert.equal(await ask(id, newId()), undefined)
  assert.equal((await grantOf(db(), ORG, { url: given }))?.click_id, click)
  const left = await db().selectFrom('channel_links').select('id').where('channel_id', '=', id).execute()
  assert.equal(left.length, 32)
  assert.equal(links.length, 48)
  assert.deepEqual(
    [...(await poolsOf(db(), ORG, [{ id, link_days: 7 }])).values()],
    [{ free: 0, leased: 0, granted_24h: 1, made_24h: 32 }],
  )
})
