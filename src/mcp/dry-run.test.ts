// A dry run of each tool answers with what would happen, and leaves every table as it was.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seedKey, startHouse, type TestHouse, toWireId } from '../../tests/support/house.ts'
import { eventually } from '../../tests/support/eventually.ts'
import { seedClick, seedClicks, seedRule } from '../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../tests/support/people.ts'
import { callTool } from '../../tests/support/tools.ts'
import { toUuid } from '../contract/ids.ts'
import { ALL_RIGHTS } from '../contract/rights.ts'
import { TOOLS } from './tools/all.ts'
import { EXAMPLE_GRAPH } from './tools/click-flows.ts'

type Args = Record<string, unknown>
type DryRun = {
  dry_run: true
  changes: { kind: string; id?: string; name: string; change: string; fields: Args[] }[]
  visitors_elsewhere?: { days: number; at_most: number }
  campaigns_on_fallback?: Args[]
  warnings?: { code: string }[]
  charge?: Args
  deliveries?: Args[]
  [name: string]: unknown
}

let house: TestHouse
let owner: SignedIn
let key: string
/** The objects of the workspace, by kind. */
let ids: Record<'campaign' | 'offer' | 'landing' | 'funnel' | 'flow' | 'postback' | 'click', string>

before(async () => {
  // Without periodic jobs, so that nothing but the calls can write.
  house = await startHouse({ ROLE: 'serve' }, { quotas: { writes: 100_000 } })
  owner = await seedSignedIn(house)
  key = (await seedKey(house.database, owner, { rights: ALL_RIGHTS })).secret
  ids = await seedObjects()
})
after(() => house.end())

async function did(name: string, args: Args): Promise<Args & { id: string }> {
  const result = await callTool(house, key, `service_${name}`, args)
  assert.equal(result.isError, undefined, `${name}: ${result.content[0]?.text}`)
  return result.structuredContent as Args & { id: string }
}
const dry = async (name: string, args: Args) => (await did(name, { ...args, dry_run: true })) as unknown as DryRun

/** A workspace in which each object leads somewhere, with three clicks. */
async function seedObjects() {
  const offer = (await did('create_offer', { name: 'Slots', url: 'https://offer.example/', payout: '7' })).id
  const landing = (await did('create_landing', { name: 'Story', url: 'https://page.example/' })).id
  const funnel = (await did('create_funnel', { name: 'One', offers: [{ offer_id: offer, weight: 1 }] })).id
  const flow = (await did('create_click_flow', { name: 'By country', graph: graphTo(landing, offer) })).id
  await did('publish_click_flow', { click_flow_id: flow })
  await did('create_campaign', { name: 'By flow', click_flow_id: flow })
  const campaign = (await did('create_campaign', { name: 'Summer', funnel_id: funnel })).id
  const postback = (await did('create_postback', { event_type: 'lead', url: 'https://in.example/?t=secret' })).id
  const [click = ''] = await seedClicks(house.database, owner.org_id, 3, {
    campaign_id: toUuid(campaign) ?? null,
    offer_id: toUuid(offer) ?? null,
  })
  return { offer, landing, funnel, flow, campaign, postback, click: toWireId(click) }
}

const graphTo = (landing_id: string, offer_id: string) => ({
  ...EXAMPLE_GRAPH,
  nodes: EXAMPLE_GRAPH.nodes.map(node =>
    node.type === 'landing' ? { ...node, landing_id } : node.type === 'offer' ? { ...node, offer_id } : node,
  ),
})

/** The contents of every table, by its name. Left out is only the time at which a key was last used. */
async function contents(): Promise<Record<string, string>> {
  const { reads, schema } = house.database
  const { rows: tables } = await reads.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
    [schema],
  )
  const found: Record<string, string> = {}
  for (const { name } of tables.filter(table => table.name !== 'api_key_uses')) {
    const { rows } = await reads.query<{ all: string | null }>(
      `select string_agg(t::text, E'\\n' order by t::text) as all from "${name}" t`,
    )
    found[name] = rows[0]?.all ?? ''
  }
  return found
}

const listed = async (): Promise<number> =>
  ((await house.call('GET', '/api/refused-events', owner)).data()['data'] as unknown[]).length

/** A call of each tool that writes. */
const calls = (): Record<string, Args> => ({
  report_conversion: { clickId: ids.click, type: 'lead', nonce: 'dry' },
  create_campaign: { name: 'New', redirect_url: 'https://shop.example/', idempotency_key: 'dry-1' },
  create_offer: { name: 'New', url: 'https://new.example/' },
  set_offer_status: { offer_id: ids.offer, status: 'archived' },
  create_landing: { name: 'New', url: 'https://new.example/' },
  set_landing_status: { landing_id: ids.landing, status: 'archived' },
  create_funnel: { name: 'New', landings: [{ landing_id: ids.landing, weight: 1 }] },
  create_click_flow: { name: 'New', graph: graphTo(ids.landing, ids.offer) },
  set_click_flow_status: { click_flow_id: ids.flow, status: 'paused' },
  update_campaign: { campaign_id: ids.campaign, redirect_url: 'https://other.example/' },
  delete_campaign: { campaign_id: ids.campaign },
  update_offer: { offer_id: ids.offer, name: 'Slots', url: 'https://other.example/' },
  delete_offer: { offer_id: ids.offer },
  update_landing: { landing_id: ids.landing, name: 'Story', url: 'https://other.example/' },
  delete_landing: { landing_id: ids.landing },
  update_funnel: { funnel_id: ids.funnel, landings: [{ landing_id: ids.landing, weight: 1 }] },
  delete_funnel: { funnel_id: ids.funnel },
  delete_click_flow: { click_flow_id: ids.flow },
  publish_click_flow: { click_flow_id: ids.flow },
  create_postback: { event_type: 'ftd', url: 'https://in.example/?c={click_id}' },
  update_postback: { postback_id: ids.postback, url: 'https://else.example/?t=other' },
  delete_postback: { postback_id: ids.postback },
  record_ad_spend: { campaign_id: ids.campaign, day: new Date().toISOString().slice(0, 10), amount: '12.50' },
})

describe('a dry run', () => {
  test('of each tool that writes leaves every table as it was', async () => {
    const writing = TOOLS.filter(({ endpoint }) => !endpoint.route.startsWith('GET ')).map(({ shown }) => shown.name)
    assert.deepEqual(
      Object.keys(calls()).map(name => `service_${name}`),
      writing,
    )
    const was = await contents()
    for (const [name, args] of Object.entries(calls())) {
      const told = await dry(name, args)
      assert.equal(told.dry_run, true, name)
      assert.deepEqual(await contents(), was, name)
    }
    const again = await dry('create_campaign', calls()['create_campaign'] ?? {})
    assert.equal(again['replayed'], undefined, 'the Idempotency-Key of a dry run is free')
  })

  test('is refused like the call, and a refused one keeps nothing either', async () => {
    const was = await contents()
    for (const [name, args] of [
      ['report_conversion', { clickId: toWireId('00000000-0000-7000-8000-000000000001'), type: 'lead' }],
      ['report_conversion', { clickId: ids.click, type: 'bot_start' }],
      ['update_campaign', { campaign_id: ids.campaign, funnel_id: ids.click }],
      ['delete_offer', { offer_id: ids.click }],
      ['create_offer', { name: 'New', url: 'no address' }],
      ['create_offer', { name: 'New', url: 'https://new.example/', colour: 'red' }],
    ] as const) {
      const [tried, done] = [
        await callTool(house, key, `service_${name}`, { ...args, dry_run: true }),
        await callTool(house, key, `service_${name}`, args),
      ]
      assert.equal(tried.isError, true, name)
      assert.deepEqual(tried.structuredContent, done.structuredContent)
    }
    // The calls themselves are listed among the refused conversions, after their answers; dry runs would be listed before them.
    await eventually('two refused conversions are listed', async () => (await listed()) >= 2)
    assert.equal(await listed(), 2)
    assert.deepEqual({ ...(await contents()), refused_events: '' }, { ...was, refused_events: '' })
  })

  test('needs the right of the call, and takes only true and false', async () => {
    const { secret } = await seedKey(house.database, owner, { rights: ['offers'] })
    const refused = await callTool(house, secret, 'service_delete_offer', { offer_id: ids.offer, dry_run: true })
    assert.equal(refused.structuredContent['code'], 'api_key_delete_not_granted')
    const wrong = await callTool(house, key, 'service_delete_offer', { offer_id: ids.offer, dry_run: 'yes' })
    assert.equal(wrong.structuredContent['error'], 'arguments/dry_run: must be true or false')
    const elsewhere = await seedSignedIn(house)
    const other = (await seedKey(house.database, elsewhere, { rights: ALL_RIGHTS })).secret
    const unknown = await callTool(house, other, 'service_delete_offer', { offer_id: ids.offer, dry_run: true })
    assert.equal(unknown.structuredContent['status'], 404)
  })
})

describe('a dry run tells', () => {
  test('the fields before and after, the visitors who would go elsewhere and the campaigns on their fallback', async () => {
    const offer = await dry('update_offer', calls()['update_offer'] ?? {})
    assert.deepEqual(offer.changes, [
      {
        kind: 'offer',
        id: ids.offer,
        name: 'Slots',
        change: 'changed',
        fields: [
          { name: 'url', before: 'https://offer.example/', after: 'https://other.example/' },
          { name: 'payout', before: '7', after: null },
        ],
      },
    ])
    assert.deepEqual(offer.visitors_elsewhere, { days: 7, at_most: 3 })
    assert.ok(offer.warnings?.some(({ code }) => code === 'field_cleared'))
    const renamed = await dry('update_campaign', { campaign_id: ids.campaign, name: 'Winter' })
    assert.equal(renamed.visitors_elsewhere, undefined)
    for (const [name, args] of [
      ['update_campaign', calls()['update_campaign']],
      ['delete_campaign', { campaign_id: ids.campaign }],
      ['delete_funnel', { funnel_id: ids.funnel }],
      ['delete_offer', { offer_id: ids.offer }],
    ] as const)
      assert.deepEqual((await dry(name, args ?? {})).visitors_elsewhere, { days: 7, at_most: 3 }, name)
    const paused = await dry('set_click_flow_status', { click_flow_id: ids.flow, status: 'paused' })
    assert.deepEqual(paused.visitors_elsewhere, { days: 7, at_most: 0 })
    assert.equal(paused.campaigns_on_fallback?.[0]?.['name'], 'By flow')
  })

  test('of a new object what it would be, without an id', async () => {
    const { changes } = await dry('create_offer', { name: 'New', url: 'https://new.example/', payout: '3' })
    assert.equal(changes.length, 1)
    const { id, change, fields } = changes[0] ?? assert.fail('no change')
    assert.deepEqual([id, change], [undefined, 'created'])
    assert.ok(fields.some(({ name, after }) => name === 'payout' && after === '3'))
    assert.ok(!fields.some(({ name }) => name === 'id' || name === 'created_at'))
    const campaign = await dry('create_campaign', { name: 'New', redirect_url: 'https://shop.example/' })
    assert.ok(!campaign.changes[0]?.fields.some(({ name }) => name === 'key'))
  })

  test('neither the address of a postback nor the graph of a flow', async () => {
    for (const [name, args] of [
      ['update_postback', calls()['update_postback']],
      ['delete_postback', { postback_id: ids.postback }],
      ['delete_click_flow', { click_flow_id: ids.flow }],
    ] as const) {
      const told = JSON.stringify(await dry(name, args ?? {}))
      assert.ok(!told.includes('secret') || told.includes('is_secret'), name)
      assert.ok(!told.includes('t=secret') && !told.includes('"nodes"'), name)
    }
    const deleted = await dry('delete_postback', { postback_id: ids.postback })
    assert.equal(deleted['pending_calls_dropped'], 0)
  })

  test('of a conversion the charge and the deliveries, exactly those that the call makes', async () => {
    await seedRule(house.database, owner.org_id, { event_type: 'lead', active: false })
    const args = { clickId: ids.click, type: 'lead', nonce: 'real' }
    const told = await dry('report_conversion', args)
    assert.deepEqual(told.deliveries, [{ kind: 'postback', id: ids.postback, name: 'in.example', state: 'pending' }])
    assert.equal(told.charge?.['person_was_charged_before'], false)
    const { rows } = await house.database.reads.query<{ price: string }>(
      'select price_per_person::text as price from balances where org_id = $1',
      [owner.org_id],
    )
    assert.equal(Number(told.charge?.['amount']), Number(rows[0]?.price))
    await did('report_conversion', args)
    const again = await dry('report_conversion', args)
    assert.deepEqual([again['replayed'], again.deliveries], [true, []])
    const second = await dry('report_conversion', { ...args, nonce: 'second' })
    assert.deepEqual(second.charge, { amount: '0', person_was_charged_before: true })
    const test = await seedClick(house.database, owner.org_id, { test: true })
    const onTest = await dry('report_conversion', { clickId: toWireId(test), type: 'lead' })
    assert.deepEqual([onTest.charge, onTest.deliveries], [{ amount: '0', person_was_charged_before: false }, []])
  })
})
