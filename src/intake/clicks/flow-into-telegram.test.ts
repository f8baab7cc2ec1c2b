// Paths of click flows that end in Telegram.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { flowCalls } from '../../../tests/support/flows.ts'
import { useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedBot } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import type { FlowNode, Graph, Tried } from '../../traffic/click-flows/api.ts'

let house: TestHouse
let owner: SignedIn
let calls: ReturnType<typeof flowCalls>
let bot_id: string
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  calls = flowCalls(house, owner)
  const id = await seedBot(house.database, owner.org_id, 'Flow_bot')
  await announceChange(house.ground.db, owner.org_id, id)
  bot_id = toWireId(id)
})
after(() => house.end())

const ENTRY: FlowNode = { id: 'entry', type: 'entry' }
/** A path from the entry through these nodes. */
const through = (...nodes: FlowNode[]): Graph => ({
  nodes: [ENTRY, ...nodes],
  edges: nodes.map(({ id }, at) => ({ from: at === 0 ? 'entry' : (nodes[at - 1]?.id ?? ''), to: id })),
})

async function published(graph: Graph, fields: object = {}) {
  const id = await calls.flow(graph)
  const reply = await calls.publish(id)
  assert.equal(reply.statusCode, 200, reply.body)
  return { id, campaign: await calls.campaign(id, fields) }
}

const get = (url: string) => house.call('GET', url, { headers: BROWSER })

async function clickOf(campaign_id: string) {
  const { rows } = await house.database.reads.query<Record<string, unknown>>(
    'select id, click_flow_node_path as path, offer_id, bot_id from clicks where org_id = $1 and campaign_id = $2 order by id desc limit 1',
    [owner.org_id, toUuid(campaign_id)],
  )
  const [{ id, ...click } = {}] = rows
  return { wire: toWireId(String(id)), ...click }
}

test('a path ends at a bot with its own parameter, or in a Mini App, and the click is bound and earns as at any bot', async () => {
  const offer = await calls.offer('Campaigns')
  for (const [node, link] of [
    [{ type: 'bot', start: 'flow-{click_id}', link_host: 'telegram.me' }, 'https://telegram.me/Flow_bot?start=flow-ID'],
    [{ type: 'mini_app' }, 'https://t.me/Flow_bot?startapp=ID'],
    [{ type: 'mini_app', app: 'play', start: 'f_{click_id}' }, 'https://t.me/Flow_bot/play?startapp=f_ID'],
  ] as const) {
    const { campaign } = await published(through({ id: 'tg', bot_id, ...node }), { offer_id: offer })
    const { headers } = await get(`/c/${campaign.key}`)
    const { wire, ...click } = await clickOf(campaign.id)
    assert.equal(headers.location, link.replace('ID', wire))
    assert.deepEqual(click, { path: '1:entry>tg', offer_id: toUuid(offer), bot_id: toUuid(bot_id) })
  }
})

test('a node can open the app by a page, at the click and behind a landing', async () => {
  const landing: FlowNode = { id: 'l', type: 'landing', landing_id: await calls.landing('Pre') }
  const app: FlowNode = { id: 'tg', type: 'mini_app', bot_id, app: 'play', open: 'page' }
  const { campaign } = await published(through(app))
  const page = await get(`/c/${campaign.key}`)
  assert.equal(page.statusCode, 200)
  assert.ok(page.body.includes(`t.me/Flow_bot/play?startapp=${(await clickOf(campaign.id)).wire}"`), page.body)

  const { campaign: behind } = await published(through(landing, app))
  assert.match(String((await get(`/c/${behind.key}`)).headers.location), /^https:\/\/land\.example\/Pre/)
  const { wire } = await clickOf(behind.id)
  const onward = await get(`/o/${wire}`)
  assert.equal(onward.statusCode, 200)
  assert.ok(onward.body.includes(`startapp=${wire}"`))
  assert.ok(onward.body.includes(`tg://resolve?domain=Flow_bot&amp;appname=play&amp;startapp=${wire}`))
})

test('a landing leads on to the place in the graph, and to the bot alone if the graph has another place by then', async () => {
  const landing: FlowNode = { id: 'l', type: 'landing', landing_id: await calls.landing('Before') }
  const place: FlowNode = { id: 'tg', type: 'bot', bot_id, start: 'behind-{click_id}' }
  const { id, campaign } = await published(through(landing, place))
  await get(`/c/${campaign.key}`)
  const { wire } = await clickOf(campaign.id)
  assert.equal((await get(`/o/${wire}`)).headers.location, `https://t.me/Flow_bot?start=behind-${wire}`)
  await calls.put(id, { name: 'Flow', graph: through(landing, { ...place, id: 'other' }) })
  assert.equal((await calls.publish(id)).statusCode, 200)
  assert.equal((await get(`/o/${wire}`)).headers.location, `https://t.me/Flow_bot?start=${wire}`)
})

test('a deleted bot sends the path of its Mini App to the fallback at once', async () => {
  const leaving = await seedBot(house.database, owner.org_id, 'Leaving_bot', house.ground.secrets.seal('7:token'))
  await announceChange(house.ground.db, owner.org_id, leaving)
  const { campaign } = await published(through({ id: 'tg', type: 'mini_app', bot_id: toWireId(leaving) }))
  assert.match(String((await get(`/c/${campaign.key}`)).headers.location), /^https:\/\/t\.me\/Leaving_bot/)
  assert.equal((await house.call('DELETE', `/api/bots/${toWireId(leaving)}`, owner)).statusCode, 200)
  assert.match(String((await get(`/c/${campaign.key}`)).headers.location), /^https:\/\/fallback\.example/)
  const { bot_id: bound, path } = (await clickOf(campaign.id)) as Record<string, unknown>
  assert.deepEqual([bound, path], [null, '1:entry>tg!'])
})

test('publishing refuses an invalid link and an unknown bot, naming node and field', async () => {
  const stranger = await seedSignedIn(house)
  const theirs = toWireId(await seedBot(house.database, stranger.org_id, 'Their_bot'))
  for (const [node, words] of [
    [{ type: 'mini_app' }, /^Node tg: names no bot\. Choose one \(bot_id\)\.$/],
    [{ type: 'mini_app', bot_id, app: 'a/b' }, /^Node tg: the name of its app must be its short name/],
    [{ type: 'mini_app', bot_id, start: 'x' }, /^Node tg: its parameter must end with \{click_id\}/],
    [{ type: 'bot', bot_id, start: `${'a'.repeat(50)}-{click_id}` }, /^Node tg: its parameter may hold at most 38/],
    [{ type: 'mini_app', bot_id: theirs }, /^Node tg: there is no such bot\. Choose another one \(bot_id\)\.$/],
  ] as const) {
    const id = await calls.flow(through({ id: 'tg', ...node }))
    const reply = await calls.publish(id)
    const problems = JSON.stringify((await calls.read(id)).data()['problems'])
    const [{ message }] = JSON.parse(problems) as [{ message: string }]
    assert.deepEqual([reply.statusCode, words.test(message)], [422, true], message)
  }
})

test('trying a flow shows where a visitor goes, and that another parameter is another place', async () => {
  const id = await calls.flow(through({ id: 'tg', type: 'mini_app', bot_id, app: 'play' }))
  await calls.publish(id)
  await calls.put(id, {
    name: 'Flow',
    graph: through({ id: 'tg', type: 'mini_app', bot_id, app: 'play', start: 'n-{click_id}' }),
  })
  const { visitors, changed } = (await calls.attempt(id, { visitor: {} })).json() as Tried
  const [visitor] = visitors
  assert.equal(changed, 1)
  assert.deepEqual(
    [visitor?.draft.outcome, visitor?.draft.leads_to, visitor?.draft.address, visitor?.published?.address],
    [
      'mini_app',
      'Mini App of @Flow_bot',
      'https://t.me/Flow_bot/play?startapp=n-01jb2k7q4nf7mrk0t5c8h3v9xz',
      'https://t.me/Flow_bot/play?startapp=01jb2k7q4nf7mrk0t5c8h3v9xz',
    ],
  )
  assert.equal(visitor?.draft.steps.at(-1)?.reason, 'Leads to Mini App of @Flow_bot.')
})
