// Campaigns that lead into Telegram, from the ad's address to the recorded event, through the door.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type BotPlace, startBotHouse, startUpdate } from '../../../tests/support/bot-place.ts'
import { flowCalls } from '../../../tests/support/flows.ts'
import { seedKey } from '../../../tests/support/house.ts'
import { tally } from '../../../tests/support/intake.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import type { FlowNode } from '../../contract/flow-graph.ts'
import { toUuid } from '../../contract/ids.ts'

let on: Awaited<ReturnType<typeof startBotHouse>>
before(async () => {
  on = await startBotHouse()
})
after(() => on.close())

async function campaign({ as }: Pick<BotPlace, 'as'>, destination: object, fields: object = {}) {
  const made = await on.house.call('POST', '/api/campaigns', { ...as, body: { name: 'C', destination, ...fields } })
  assert.equal(made.statusCode, 201, made.body)
  return made.json() as { id: string; key: string }
}

/** The destination of a campaign with a click flow of these nodes, one after the other. */
async function through(calls: ReturnType<typeof flowCalls>, ...nodes: FlowNode[]) {
  const all: FlowNode[] = [{ id: 'entry', type: 'entry' }, ...nodes]
  const edges = nodes.map(({ id }, at) => ({ from: all[at]?.id ?? '', to: id }))
  const click_flow_id = await calls.flow({ nodes: all, edges })
  assert.equal((await calls.publish(click_flow_id)).statusCode, 200)
  return { type: 'click_flow', click_flow_id }
}

const visit = ({ key }: { key: string }, method: 'GET' | 'HEAD' = 'GET') =>
  on.house.call(method, `/c/${key}`, { headers: BROWSER })
const locationOf = async (of: { key: string }) => {
  const answer = await visit(of)
  assert.equal(answer.statusCode, 302, answer.body)
  return String(answer.headers.location)
}
const paramOf = (address: string, name: string) => new URL(address).searchParams.get(name) ?? ''

const clickOf = (id: string) =>
  on.house.database.kysely
    .selectFrom('clicks')
    .select(['bot_id', 'status', 'offer_id', 'tracked'])
    .where('id', '=', toUuid(id) ?? '')
    .executeTakeFirstOrThrow()
const eventsOf = ({ org_id }: BotPlace) =>
  on.house.database.kysely
    .selectFrom('events')
    .select(['type', 'click_id', 'telegram_user_id', 'bot_id'])
    .where('org_id', '=', org_id)
    .execute()

describe('a campaign that leads to a bot', () => {
  test('starts the bot with the click id, and the click is bound to the bot before any start', async () => {
    const place = await on.place()
    const to = await campaign(place, { type: 'bot', bot_id: place.bot })
    const location = await locationOf(to)
    const id = paramOf(location, 'start')
    assert.equal(location, `https://t.me/${place.username}?start=${id}`)
    assert.deepEqual(await clickOf(id), { bot_id: toUuid(place.bot), status: 0, offer_id: null, tracked: true })
  })

  test('counts a start once, whether Telegram or the sender reports it first, also if the sender names no bot', async () => {
    for (const order of ['Telegram first', 'sender first']) {
      const place = await on.place()
      const { secret: key } = await seedKey(on.house.database, place, { rights: ['events'] })
      const id = paramOf(await locationOf(await campaign(place, { type: 'bot', bot_id: place.bot })), 'start')
      const post = () => on.sendUpdate(place, startUpdate(id))
      const sent = () =>
        on.house.call('POST', '/api/events', {
          key,
          body: { clickId: id, type: 'bot_start', payload: { telegram_user_id: 77 } },
        })
      const answers = order === 'sender first' ? [await sent(), await post()] : [await post(), await sent()]
      assert.deepEqual(
        answers.map(({ statusCode }) => statusCode),
        order === 'sender first' ? [201, 200] : [200, 201],
        order,
      )
      assert.deepEqual(await eventsOf(place), [
        { type: 'bot_start', click_id: toUuid(id), telegram_user_id: '77', bot_id: toUuid(place.bot) },
      ])
    }
  })

  test('passes on the owner’s own prefix of the start parameter, which is read back from Telegram and from the sender alike', async () => {
    for (const [start, own] of [
      ['promo-{click_id}', 'promo-'],
      ['summer_24_{click_id}', 'summer_24_'],
    ] as const) {
      const place = await on.place()
      const { secret: key } = await seedKey(on.house.database, place, { rights: ['events'] })
      const location = await locationOf(await campaign(place, { type: 'bot', bot_id: place.bot, start }))
      const parameter = paramOf(location, 'start')
      assert.equal(location, `https://t.me/${place.username}?start=${parameter}`)
      assert.match(parameter, new RegExp(`^${own}[0-9a-z]{26}$`))
      await on.sendUpdate(place, startUpdate(parameter))
      const sent = await on.house.call('POST', '/api/events', {
        key,
        body: { clickId: parameter, type: 'bot_start', payload: { telegram_user_id: 77 } },
      })
      assert.equal(sent.statusCode, 201, sent.body)
      assert.equal(sent.data()['click_id'], parameter.slice(own.length))
      assert.equal((await eventsOf(place)).length, 1)
    }
  })

  test('a start parameter names a click only for a start, and only a click of the organization', async () => {
    const [place, stranger] = [await on.place(), await on.place()]
    const { secret: key } = await seedKey(on.house.database, place, { rights: ['events'] })
    const own = paramOf(await locationOf(await campaign(place, { type: 'bot', bot_id: place.bot })), 'start')
    const theirs = paramOf(await locationOf(await campaign(stranger, { type: 'bot', bot_id: stranger.bot })), 'start')
    for (const body of [
      { clickId: `promo-${own}`, type: 'lead' },
      { clickId: `promo${own}`, type: 'bot_start', payload: { telegram_user_id: 77 } },
      { clickId: `promo-${theirs}`, type: 'bot_start', payload: { telegram_user_id: 77 } },
    ]) {
      const sent = await on.house.call('POST', '/api/events', { key, body })
      assert.deepEqual([sent.statusCode, Object.keys(sent.data())], [403, ['error']], sent.body)
    }
    assert.equal((await on.sendUpdate(place, startUpdate(`promo-${theirs}`))).statusCode, 200)
    assert.equal((await on.sendUpdate(place, startUpdate(`promo${own}`))).statusCode, 200)
    assert.equal((await tally(on.house.database, place.org_id)).events, 0)
  })

  test('earns for the campaign’s offer while it is open, and keeps its visitors when the offer is archived', async () => {
    const place = await on.place()
    const offer = await on.house.call('POST', '/api/offers', {
      ...place.as,
      body: { name: 'O', url: 'https://offer.example/', payout: '5' },
    })
    const offer_id = String(offer.data()['id'])
    const fallback_url = 'https://fallback.example/'
    const to = await campaign(place, { type: 'bot', bot_id: place.bot }, { offer_id, fallback_url })
    const earning = paramOf(await locationOf(to), 'start')
    assert.equal((await clickOf(earning)).offer_id, toUuid(offer_id))
    const archived = await on.house.call('PUT', `/api/offers/${offer_id}/status`, {
      ...place.as,
      body: { status: 'archived' },
    })
    assert.deepEqual(archived.data()['campaigns_on_fallback'], [])
    const late = paramOf(await locationOf(to), 'start')
    assert.deepEqual([(await clickOf(late)).offer_id, (await clickOf(late)).bot_id], [null, toUuid(place.bot)])
    const listed = await on.house.call('GET', '/api/offers?status=archived', place.as)
    assert.deepEqual((listed.data()['data'] as Record<string, unknown>[])[0]?.['campaigns'], {
      following: 0,
      own_address: 0,
      by_funnel: 0,
      by_click_flow: 0,
    })
  })

  test('sends visitors to the fallback as soon as the bot is deleted, and answers 404 without a fallback', async () => {
    const place = await on.place()
    const with_one = await campaign(
      place,
      { type: 'bot', bot_id: place.bot },
      { fallback_url: 'https://fallback.example/?c={click_id}' },
    )
    const without = await campaign(place, { type: 'mini_app', bot_id: place.bot })
    await locationOf(with_one)
    const calls = flowCalls(on.house, { ...place, ...place.as })
    const app: FlowNode = { id: 'app', type: 'mini_app', bot_id: place.bot }
    const by_flow = await campaign(place, await through(calls, app))
    // Without a fallback its landing is still shown.
    const page: FlowNode = { id: 'page', type: 'landing', landing_id: await calls.landing('page') }
    const behind = await campaign(place, await through(calls, page, app))
    await campaign(place, { type: 'redirect', url: 'https://elsewhere.example/' })
    const deleted = await on.house.call('DELETE', `/api/bots/${place.bot}`, place.as)
    assert.equal(deleted.statusCode, 200, deleted.body)
    const { id, campaigns_on_fallback } = deleted.json<{ id: string; campaigns_on_fallback: { id: string }[] }>()
    assert.equal(id, place.bot)
    assert.deepEqual(
      campaigns_on_fallback.map(one => one.id).toSorted(),
      [with_one, without, by_flow].map(one => one.id).toSorted(),
    )
    assert.equal((await visit(by_flow)).statusCode, 404)
    assert.match(await locationOf(behind), /^https:\/\/land\.example\/page/)
    const location = await locationOf(with_one)
    assert.match(location, /^https:\/\/fallback\.example/)
    assert.equal((await clickOf(paramOf(location, 'c'))).bot_id, null)
    assert.equal((await visit(without)).statusCode, 404)
  })
})

describe('a campaign that leads to a Mini App', () => {
  test('opens the main app or one by its short name, with the click id, under either host', async () => {
    const place = await on.place()
    const { username } = place
    for (const [fields, link] of [
      [{}, `https://t.me/${username}?startapp=ID`],
      [{ app: 'play' }, `https://t.me/${username}/play?startapp=ID`],
      [{ app: 'play', start: 'p-{click_id}' }, `https://t.me/${username}/play?startapp=p-ID`],
      [{ link_host: 'telegram.me' }, `https://telegram.me/${username}?startapp=ID`],
    ] as const) {
      const location = await locationOf(await campaign(place, { type: 'mini_app', bot_id: place.bot, ...fields }))
      const id = paramOf(location, 'startapp').slice(-26)
      assert.equal(location.replace(id, 'ID'), link)
      assert.equal((await clickOf(id)).bot_id, toUuid(place.bot))
    }
  })
})

describe('the page that opens the app', () => {
  test('tries the app, shows the link, loads nothing else, and counts as a click like any other', async () => {
    const place = await on.place()
    const to = await campaign(place, { type: 'mini_app', bot_id: place.bot, app: 'play', open: 'page' })
    const answer = await visit(to)
    assert.deepEqual([answer.statusCode, answer.headers['content-type']], [200, 'text/html; charset=utf-8'])
    const id = /href="https:\/\/t\.me\/\w+\/play\?startapp=([0-9a-z]{26})"/.exec(answer.body)?.[1] ?? ''
    assert.ok(
      answer.body.includes(`data-app="tg://resolve?domain=${place.username}&amp;appname=play&amp;startapp=${id}"`),
    )
    assert.equal((await clickOf(id)).bot_id, toUuid(place.bot))
    const policy = String(answer.headers['content-security-policy'])
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; /)
    assert.doesNotMatch(policy, /unsafe|http|\*/)
    assert.deepEqual(
      [answer.headers['cache-control'], answer.headers['x-robots-tag'], answer.headers['x-content-type-options']],
      ['no-store', 'noindex', 'nosniff'],
    )
    assert.match(String(answer.headers['set-cookie']), /vis_id/)
    assert.equal(answer.body.match(/https?:/g)?.length, 1, 'the only address in it is the link')
  })

  test('answers HEAD without a click; a paused campaign shows no page', async () => {
    const place = await on.place()
    const to = await campaign(place, { type: 'bot', bot_id: place.bot, open: 'page' })
    const asked = await visit(to, 'HEAD')
    assert.deepEqual([asked.statusCode, asked.body], [200, ''])
    assert.match(String(asked.headers['content-type']), /html/)
    await on.house.call('PUT', `/api/campaigns/${to.id}/status`, { ...place.as, body: { status: 'paused' } })
    assert.match((await visit(to)).body, /This offer is closed/)
    const { rows } = await on.house.database.reads.query('select bot_id from clicks where org_id = $1', [place.org_id])
    assert.deepEqual(rows, [{ bot_id: null }])
  })
})
