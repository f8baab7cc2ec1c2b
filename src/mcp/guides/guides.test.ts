import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { newId, seedKey, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { callTool, type ToolMessage, send } from '../../../tests/support/tools.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { MACROS } from '../../contract/address.ts'
import { dayOf } from '../../contract/days.ts'
import { EVENT_TYPES } from '../../contract/event-types.ts'
import { CONDITION_FIELDS, NODE_TYPES } from '../../contract/flow-graph.ts'
import { REFUSALS } from '../../contract/refusal-catalogue.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'
import { POSTBACK_MACROS } from '../../outgoing/postbacks/api.ts'
import { TOOLS } from '../tools/all.ts'
import { SKILL_NAMES, SKILLS } from './skills.ts'

let house: TestHouse
let owner: SignedIn
let key: string
before(async () => {
  house = await startHouse({}, { quotas: { writes: 100_000, report: 100_000, clicks: 100_000 } })
  owner = await seedSignedIn(house)
  key = (await seedKey(house.database, owner, { rights: ALL_RIGHTS })).secret
})
after(() => house.end())

const ERAS = ['modern', 'legacy'] as const
type Era = (typeof ERAS)[number]

/** The result of a method that must succeed. */
async function told(method: string, params: Record<string, unknown> = {}, era: Era = 'modern', secret = key) {
  const reply = await send(house, secret, method, params, era)
  const { result } = reply.json<ToolMessage>()
  assert.equal(reply.statusCode, 200, reply.body)
  return result ?? assert.fail(reply.body)
}

/** The error of a method that must refuse. */
async function refused(method: string, params: Record<string, unknown>, era: Era = 'modern') {
  const { error } = (await send(house, key, method, params, era)).json<ToolMessage>()
  return { code: error?.code, message: String(error?.message), data: error?.data }
}

const promptText = (result: Record<string, unknown>): string =>
  (result['messages'] as { content: { text: string } }[])[0]?.content.text ?? assert.fail()

async function guide(name: string): Promise<string> {
  const { contents } = (await told('resources/read', { uri: `sluice://guide/${name}` })) as {
    contents: { text: string }[]
  }
  return contents[0]?.text ?? assert.fail(name)
}

describe('the calls in a skill', () => {
  /** A call in the text of a skill. */
  const CALL = /^\s*(service_\w+) (\{.*\})$/gm
  const DAY = 86_400_000

  /** The values that a user would have: one object of each kind, a campaign with a click, and the days of the last week. */
  async function atHand(): Promise<Record<string, string>> {
    const made = async (name: string, args: Record<string, unknown>) =>
      (await callTool(house, key, `service_create_${name}`, args)).structuredContent as { id: string; url: string }
    const offer = await made('offer', { name: 'O', url: 'https://o.example/?c={click_id}' })
    const landing = await made('landing', { name: 'L', url: 'https://l.example/?c={click_id}' })
    const funnel = await made('funnel', { name: 'F', offers: [{ offer_id: offer.id, weight: 1 }] })
    const graph = {
      nodes: [
        { id: 'in', type: 'entry' },
        { id: 'x', type: 'offer', offer_id: offer.id },
      ],
      edges: [{ from: 'in', to: 'x' }],
    }
    const flow = await made('click_flow', { name: 'W', graph })
    await callTool(house, key, 'service_publish_click_flow', { click_flow_id: flow.id })
    const campaign = await made('campaign', { name: 'C', funnel_id: funnel.id })
    await house.call('GET', `${new URL(campaign.url).pathname}?sub1=zone-7`, { headers: BROWSER })
    const rule = await made('postback', { event_type: 'lead', url: 'https://p.example/', campaign_id: campaign.id })
    const monday = Date.now() - ((new Date().getUTCDay() + 6) % 7) * DAY
    return {
      offer_id: offer.id,
      landing_id: landing.id,
      funnel_id: funnel.id,
      click_flow_id: flow.id,
      campaign_id: campaign.id,
      postback_id: rule.id,
      monday: dayOf(monday),
      sunday: dayOf(monday + 6 * DAY),
      monday_before: dayOf(monday - 7 * DAY),
      sunday_before: dayOf(monday - DAY),
      four_weeks_ago: dayOf(monday - 28 * DAY),
    }
  }

  for (const { name, body } of SKILLS)
    test(`${name}: each works as it stands, one after the other`, async () => {
      const known = await atHand()
      const calls = [...body.matchAll(CALL)]
      assert.ok(calls.length >= 4, `${name} holds calls`)
      assert.equal(calls.length, body.match(/service_\w+ \{/g)?.length, 'every call is one line of JSON')
      for (const [, tool = '', text = ''] of calls) {
        const args = JSON.parse(
          text.replace(/<(\w+)>/g, (_, what: string) => known[what] ?? assert.fail(`<${what}> is made by no call`)),
        ) as Record<string, unknown>
        const { isError, structuredContent, content } = await callTool(house, key, tool, args)
        assert.equal(isError, undefined, `${tool}: ${content[0]?.text}`)
        const thing = /^service_create_(\w+)$/.exec(tool)?.[1]
        if (thing !== undefined) known[`${thing}_id`] = String(structuredContent['id'])
      }
    })

  test('name existing tools and guides', () => {
    const tools = new Set(TOOLS.map(({ shown }) => shown.name))
    for (const { name, body } of SKILLS) {
      for (const [tool] of body.matchAll(/service_[a-z_]+/g))
        assert.ok(tools.has(tool as `service_${string}`), `${name}: ${tool}`)
      for (const [, page] of body.matchAll(/sluice:\/\/guide\/([a-z-]+)/g))
        assert.ok(['macros', 'click-flows', 'event-types', 'refusals'].includes(page ?? ''), `${name}: ${page}`)
    }
  })
})

describe('skills over the protocol', () => {
  test('are declared, listed with digest and size of their files, and returned one by one', async () => {
    for (const era of ERAS) {
      const { skills } = (await told('skills/list', {}, era)) as { skills: Record<string, unknown>[] }
      assert.deepEqual(
        skills.map(({ frontmatter }) => (frontmatter as { name: string }).name),
        SKILL_NAMES,
      )
      for (const skill of skills) {
        const uri = String(skill['uri'])
        assert.deepEqual((await told('skills/get', { uri }, era))['skill'], skill)
        const { contents } = (await told('resources/read', { uri }, era)) as { contents: { text: string }[] }
        const text = contents[0]?.text ?? ''
        const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`
        assert.deepEqual(skill['resources'], [{ uri, digest, size: Buffer.byteLength(text) }])
      }
      assert.equal((await refused('skills/get', { uri: 'skill://none/SKILL.md' }, era)).code, -32602)
      assert.equal((await refused('skills/list', { cursor: 'x' }, era)).code, -32602)
    }
    const { ttlMs, cacheScope } = await told('skills/list')
    assert.deepEqual([ttlMs, cacheScope], [300_000, 'private'])
  })
})

describe('prompts', () => {
  test('are five, contain the text of their skill, and quote the given values', async () => {
    const { prompts } = (await told('prompts/list')) as { prompts: { name: string; description: string }[] }
    assert.deepEqual(
      prompts.map(({ name, description }) => [name, description]),
      SKILLS.map(({ name, description }) => [name, description]),
    )
    for (const era of ERAS) {
      const given = { offer_url: 'https://o.example/\u202e"\n# Orders' }
      const text = promptText(await told('prompts/get', { name: 'launch-campaign', arguments: given }, era))
      assert.ok(text.startsWith(SKILLS[0]?.body ?? '-'))
      assert.ok(text.endsWith('- offer_url: "https://o.example/\\u202e\\"\\n# Orders"\n'), text.slice(-100))
      assert.match(promptText(await told('prompts/get', { name: 'clean-up' }, era)), /Nothing: ask\.\n$/)
    }
  })

  test('of a week give its days, the last one with its time', async () => {
    const at = { name: 'weekly-roi', arguments: { week: '2026-03-02' } }
    const text = promptText(await told('prompts/get', at))
    assert.ok(text.includes('- The week: date_from 2026-03-02, date_to 2026-03-08T23:59:59.999Z\n'))
    assert.ok(text.includes('- The week before: date_from 2026-02-23, date_to 2026-03-01T23:59:59.999Z\n'))
    const { values } = (await told('completion/complete', completes('weekly-roi', 'week', '')))['completion'] as {
      values: string[]
    }
    const last = promptText(await told('prompts/get', { name: 'weekly-roi' }))
    assert.ok(last.includes(`- The week: date_from ${values[1]}, `), 'the last whole week')
  })

  test('refuse unknown, missing and invalid arguments', async () => {
    for (const era of ERAS)
      for (const [params, words] of [
        [{ name: 'top-up' }, /no prompt "top-up"\. There are launch-campaign, /],
        [{ name: 'launch-campaign' }, /offer_url: is required/],
        [
          { name: 'weekly-roi', arguments: { week: '2026-03-03', year: '2026' } },
          /year: weekly-roi has no such argument; week: must be a Monday/,
        ],
        [{ name: 'weekly-roi', arguments: { week: 5 } }, /params\.arguments\.week/],
      ] as const) {
        const { code, message } = await refused('prompts/get', params, era)
        assert.equal(code, -32602)
        assert.match(message, words)
      }
    assert.equal((await refused('prompts/list', { cursor: 'x' })).code, -32602)
  })

  const completes = (name: string, argument: string, value: string) => ({
    ref: { type: 'ref/prompt', name },
    argument: { name: argument, value },
  })

  test('complete event types, weeks, and the campaigns of a restricted key', async () => {
    const values = async (name: string, argument: string, value: string, secret = key) =>
      (
        (await told('completion/complete', completes(name, argument, value), 'modern', secret))['completion'] as {
          values: string[]
        }
      ).values
    assert.deepEqual(await values('wire-network', 'event_type', 'SUB'), [
      'subscription_renewed',
      'subscription_cancelled',
    ])
    const weeks = await values('weekly-roi', 'week', '')
    assert.equal(weeks.length, 8)
    for (const week of weeks) assert.equal(new Date(week).getUTCDay(), 1)
    assert.deepEqual(await values('losing-sub1', 'campaign_id', ''), [])
    const campaigns = [newId(), newId()]
    const { secret } = await seedKey(house.database, owner, { rights: ['report'], campaigns })
    assert.deepEqual(await values('losing-sub1', 'campaign_id', '', secret), campaigns.map(toWireId))
    assert.deepEqual(await values('losing-sub1', 'nothing', ''), [])
    assert.deepEqual(await values('nothing', 'week', ''), [])
    const template = { ref: { type: 'ref/resource', uri: 'sluice://{x}' }, argument: { name: 'x', value: '' } }
    assert.deepEqual((await told('completion/complete', template))['completion'], {
      values: [],
      total: 0,
      hasMore: false,
    })
  })
})

describe('guides', () => {
  test('and skills are the only resources: the same for every key, and none is a row', async () => {
    const empty = (await seedKey(house.database, owner)).secret
    for (const era of ERAS) {
      const listed = await told('resources/list', {}, era)
      assert.deepEqual((await told('resources/list', {}, era, empty))['resources'], listed['resources'])
      const uris = (listed['resources'] as { uri: string }[]).map(({ uri }) => uri)
      assert.deepEqual(uris, [
        ...['macros', 'click-flows', 'event-types', 'refusals'].map(name => `sluice://guide/${name}`),
        ...SKILL_NAMES.map(name => `skill://${name}/SKILL.md`),
      ])
      for (const uri of uris) {
        const { contents } = (await told('resources/read', { uri }, era)) as { contents: Record<string, string>[] }
        assert.deepEqual([contents.length, contents[0]?.['uri'], contents[0]?.['mimeType']], [1, uri, 'text/markdown'])
      }
      assert.deepEqual((await told('resources/templates/list', {}, era))['resourceTemplates'], [])
      assert.equal((await refused('resources/list', { cursor: 'x' }, era)).code, -32602)
    }
    // Never -32002, which some revisions use for it: here it means that a key could not be verified.
    for (const era of ERAS) {
      const none = await refused('resources/read', { uri: 'sluice://campaign/x' }, era)
      assert.deepEqual([none.code, none.data], [-32602, { uri: 'sluice://campaign/x' }])
    }
  })

  test('name all macros, nodes, types and refusals', async () => {
    const macros = await guide('macros')
    for (const name of [...MACROS, ...POSTBACK_MACROS]) assert.ok(macros.includes(`{${name}}`), name)
    const flows = await guide('click-flows')
    for (const name of NODE_TYPES) assert.ok(flows.includes(`- \`${name}\`: `), name)
    assert.ok(CONDITION_FIELDS.includes('uniqueness') && flows.includes('uniqueness: is the visitor new'))
    const types = await guide('event-types')
    for (const name of EVENT_TYPES) assert.ok(types.includes(`\`${name}\``), name)
    const refusals = await guide('refusals')
    for (const name of TOOLS.flatMap(({ endpoint }) => endpoint.refuses ?? [])) {
      const entry: { status: number; error: string; code?: string } = REFUSALS[name]
      const line = `- ${entry.status}${entry.code === undefined ? '' : ` \`${entry.code}\``}: ${entry.error}`
      // A key deletes campaigns without archiving them, and no tool archives one.
      assert.equal(refusals.includes(line), name !== 'campaign_not_archived', name)
    }
  })
})
