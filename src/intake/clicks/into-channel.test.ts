import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { randomInt } from 'node:crypto'
import { pino } from 'pino'
import { connect } from '../../ground/db/connect.ts'
import { grantOf } from '../../traffic/invite-links/invite-links.ts'
import { poolsOf } from '../../traffic/invite-links/making.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import { freshDatabase, useDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { seedChannel, seedLinks } from '../../../tests/support/invite-links.ts'
import { startProxy } from '../../../tests/support/proxy.ts'
import { seedCampaign, startTraffic, type Traffic } from '../../../tests/support/visits.ts'
import { testToken } from './test-visits.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let traffic: Traffic

before(async () => {
  fresh = await freshDatabase()
  traffic = await startTraffic(fresh.database)
})
after(async () => {
  await traffic.close()
  await fresh.drop()
})

const db = () => fresh.database.kysely

type Way = { org_id: number; channel: string; campaign: { id: string; key: string }; shared: string | undefined }

/** A channel with links, and a campaign that leads there. */
async function aWay({
  links = 20,
  isShared = true,
  channel: about = {},
  destination = {},
  ...campaign
}: {
  links?: number
  isShared?: boolean
  channel?: Parameters<typeof seedChannel>[2]
  destination?: object
  fallback_url?: string
} = {}): Promise<Way> {
  const org_id = randomInt(1, 2 ** 31 - 1)
  const channel = await seedChannel(db(), org_id, about)
  if (links > 0) await seedLinks(db(), org_id, channel.id, { count: links })
  const made = await seedCampaign(fresh.database, org_id, {
    ...campaign,
    destination: {
      type: 'redirect',
      url: 'https://t.me/',
      channel: { type: 'channel', channel_id: channel.id, open: 'direct', link_host: 't.me', ...destination },
    },
  })
  const [shared] = isShared ? await seedLinks(db(), org_id, channel.id, { campaign_id: made.id }) : []
  await announceChange(db(), org_id, made.id)
  return { org_id, channel: channel.id, campaign: made, shared: shared?.url }
}

const locationOf = async (way: Way, headers: Record<string, string> = {}, more = '', from = traffic) => {
  const answer = await from.visit(`/c/${way.campaign.key}${more}`, headers)
  assert.equal(answer.statusCode, 302, answer.body)
  return String(answer.headers.location)
}

/** The clicks of a campaign with their invite links, which are stored with them. */
async function grantsOf(org_id: number, database = db()): Promise<{ click_id: string; url: string }[]> {
  return await database
    .selectFrom('clicks')
    .innerJoin('channel_links', join =>
      join.onRef('channel_links.org_id', '=', 'clicks.org_id').onRef('channel_links.id', '=', 'clicks.link_id'),
    )
    .select(['clicks.id as click_id', 'channel_links.url'])
    .where('clicks.org_id', '=', org_id)
    .execute()
}

test('200 clicks on a channel give 200 links, and each link is known as its click’s', async () => {
  const way = await aWay({ links: 230 })
  // In portions, because a visitor who waits too long for a link gets the shared one.
  const urls: string[] = []
  while (urls.length < 200) urls.push(...(await Promise.all(Array.from({ length: 20 }, () => locationOf(way)))))
  assert.equal(new Set(urls).size, 200)
  const grants = await grantsOf(way.org_id)
  assert.deepEqual(grants.map(({ url }) => url).toSorted(), urls.toSorted())
  assert.equal(new Set(grants.map(({ click_id }) => click_id)).size, 200)
  await eventually('they are counted', async () => {
    const pools = await poolsOf(db(), way.org_id, [{ id: way.channel, link_days: 7 }])
    return pools.get(way.channel)?.granted_24h === 200
  })
  const [one] = grants
  assert.equal((await grantOf(db(), way.org_id, { url: one?.url }))?.click_id, one?.click_id)
})

test('reloading ten times gives one link', async () => {
  const way = await aWay()
  const first = await traffic.visit(`/c/${way.campaign.key}`)
  const cookie = [first.headers['set-cookie']]
    .flat()
    .map(one => String(one).split(';', 1)[0])
    .join('; ')
  const again = await Promise.all(Array.from({ length: 9 }, () => locationOf(way, { cookie })))
  assert.deepEqual(new Set([String(first.headers.location), ...again]).size, 1)
  assert.equal((await grantsOf(way.org_id)).length, 1)
})

test('crawlers, previews, HEAD, prefetches and test links take no link of the pool', async () => {
  const way = await aWay()
  const crawler = { 'user-agent': 'TelegramBot (like TwitterBot)' }
  assert.equal(await locationOf(way, crawler), way.shared)
  assert.equal(await locationOf(way, { 'sec-purpose': 'prefetch' }), way.shared)
  const token = testToken(traffic.ground.secrets, way.campaign.id)
  assert.equal(await locationOf(way, {}, `?sluice_test=${token}`), way.shared)
  const head = await traffic.visit(`/c/${way.campaign.key}`, {}, 'HEAD')
  assert.equal(head.headers.location, way.shared)
  assert.deepEqual(await grantsOf(way.org_id), [])
  assert.equal(
    (await db().selectFrom('shared_grants').select('click_id').where('org_id', '=', way.org_id).execute()).length,
    0,
  )
})

test('with no link left visitors get the shared link, then the fallback, then the public address, then a page; none an error', async () => {
  const drained = await aWay({ links: 1 })
  const own = await locationOf(drained)
  assert.notEqual(own, drained.shared)
  assert.equal(await locationOf(drained), drained.shared)
  const { rows } = await fresh.database.reads.query(
    'select from shared_grants s join clicks c on c.org_id = s.org_id and c.id = s.click_id where s.org_id = $1',
    [drained.org_id],
  )
  assert.equal(rows.length, 1)
  const fallback = { links: 0, isShared: false, fallback_url: 'https://fallback.example/?c={click_id}' }
  assert.match(
    await locationOf(await aWay({ ...fallback, channel: { username: 'deals' } })),
    /^https:\/\/fallback\.example\/\?c=\w{26}$/,
  )
  assert.equal(
    await locationOf(await aWay({ links: 0, isShared: false, channel: { username: 'deals' } })),
    'https://t.me/deals',
  )
  const page = await traffic.visit(`/c/${(await aWay({ links: 0, isShared: false })).campaign.key}`)
  assert.equal(page.statusCode, 200)
  assert.match(page.body, /Come back in a few minutes/)
})

test('links that end too soon are given to nobody', async () => {
  const way = await aWay({ links: 0 })
  await seedLinks(db(), way.org_id, way.channel, { count: 3, days: 1.99 })
  assert.equal(await locationOf(way), way.shared)
  const [soon] = await seedLinks(db(), way.org_id, way.channel, { days: 3 })
  let first: string | undefined = way.shared
  await eventually('a link is there', async () => (first = await locationOf(way)) !== way.shared)
  assert.equal(first, soon?.url)
})

test('the link opens under the name of Telegram and in the way that the campaign wishes', async () => {
  const way = await aWay({ destination: { link_host: 'telegram.me' } })
  assert.match(await locationOf(way), /^https:\/\/telegram\.me\/\+/)
  const paged = await aWay({ destination: { open: 'page' } })
  const page = await traffic.visit(`/c/${paged.campaign.key}`)
  const [url] = (await grantsOf(paged.org_id)).map(one => one.url)
  assert.ok(url)
  assert.match(page.body, new RegExp(`data-app="tg://join\\?invite=${url.slice('https://t.me/+'.length)}"`))
  assert.ok(page.body.includes(`href="${url}"`))
})

test('a stock is given back when its process closes, and only what no click has', async () => {
  const way = await aWay({ links: 40 })
  const other = await startTraffic(fresh.database)
  const given = await locationOf(way, {}, '', other)
  await other.close()
  const { rows } = await fresh.database.reads.query<{ left: number }>(
    "select coalesce(sum(left_over), 0)::int as left from link_batches where org_id = $1 and state in ('free', 'leased')",
    [way.org_id],
  )
  assert.equal(rows[0]?.left, 39)
  // The remaining links go to the next visitors, and there are no others.
  const urls = await Promise.all(Array.from({ length: 41 }, () => locationOf(way)))
  const own = urls.filter(url => url !== way.shared)
  assert.equal(new Set(own).size, own.length)
  assert.ok(!own.includes(given))
  assert.equal(own.length, 39)
  assert.equal((await grantOf(db(), way.org_id, { url: given }))?.channel_id, way.channel)
})

test('while the database is down clicks get links of the stock, and the grants are there once it is back', async () => {
  const own = await useDatabase()
  const proxy = await startProxy(own.connection)
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-channel-'))
  const behind = connect([proxy.connection], { log: pino({ level: 'silent' }), isBehind: false })
  const way = await aWayIn(own.database)
  const far = await startTraffic(behind, { DATA_DIR: dataDir })
  try {
    const before = await locationOf(way, {}, '', far)
    proxy.set('cut')
    const during = await Promise.all(Array.from({ length: 4 }, () => locationOf(way, {}, '', far)))
    assert.equal(new Set([before, ...during]).size, 5)
    assert.ok(!during.includes(way.shared ?? ''))
    proxy.set('flow')
    await eventually('the grants are there', async () => (await grantsOf(way.org_id, own.database.kysely)).length === 5)
    for (const url of [before, ...during]) {
      const grant = await grantOf(own.database.kysely, way.org_id, { url })
      assert.ok(grant?.click_id)
    }
  } finally {
    proxy.set('flow')
    await far.close()
    await behind.close()
    await proxy.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
})

async function aWayIn(database: typeof fresh.database): Promise<Way> {
  const org_id = randomInt(1, 2 ** 31 - 1)
  const channel = await seedChannel(database.kysely, org_id)
  await seedLinks(database.kysely, org_id, channel.id, { count: 30 })
  const campaign = await seedCampaign(database, org_id, {
    destination: {
      type: 'redirect',
      url: 'https://t.me/',
      channel: { type: 'channel', channel_id: channel.id, open: 'direct', link_host: 't.me' },
    },
  })
  const [shared] = await seedLinks(database.kysely, org_id, channel.id, { campaign_id: campaign.id })
  return { org_id, channel: channel.id, campaign, shared: shared?.url }
}
