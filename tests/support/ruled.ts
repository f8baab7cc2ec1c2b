// A workspace with a campaign whose zones have clicks, costs and conversions at chosen times, and the calls of rules on it.
import assert from 'node:assert/strict'
import { toUuid, toWireId } from '../../src/contract/ids.ts'
import { mintClickId } from '../../src/intake/clicks/click-id.ts'
import type { RuleCheck, TriedRule } from '../../src/automation/rules/api.ts'
import { seedUnsealed } from './explored.ts'
import type { TestHouse } from './house.ts'
import { seedSignedIn, type SignedIn } from './people.ts'

export const RULE_HOUR = 3_600_000
/** Some clicks of a zone that cost a dollar each, so many hours ago. */
export type ZoneClicks = {
  readonly sub1: string | null
  readonly hours_ago: number
  readonly clicks: number
  readonly cost?: string
  readonly converted?: number
  readonly payout?: string
}
type Check = Omit<RuleCheck, 'objects'> & { objects: RuleCheck['objects'][number][] }
export type RuleReply = Record<string, unknown> & {
  id: string
  version: number
  state: string
  waits_for: string | null
}

/** A rule that leaves out zones that cost more than three payouts without a conversion. It is off, so that only the test checks it. */
export const ZONE_RULE = {
  name: 'Zones that only cost',
  active: false,
  value_of: 'sub1',
  when: [
    { figure: 'cost', is: 'above', times_payout: 3 },
    { figure: 'conversions', is: 'below', value: 1 },
  ],
  window: { hours: 48, leave_out_newest_hours: 0 },
  at_least: { clicks: 10 },
  then: [{ type: 'leave_out' }],
  // At night the clicks of some hours ago are those of yesterday.
  stop_line: { clicks_percent: 100 },
  every: 60,
}

/** Numbers between 0 and 1, the same in every run. */
export function seededNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

function callsAs(house: TestHouse, owner: SignedIn) {
  const ask = (method: Method, url: string, body?: object, as: Partial<SignedIn> & { key?: string } = owner) =>
    house.call(method, url, {
      ...(as.key === undefined ? { cookie: as.cookie ?? '' } : { key: as.key }),
      ...(body && { body }),
    })
  const did = async <T = Record<string, unknown>>(method: Method, url: string, body?: object) => {
    const reply = await ask(method, url, body)
    assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.body}`)
    return reply.json<T>()
  }
  return { ask, did }
}

/** The calls of rules over one campaign. */
const ruleCalls = ({ ask, did }: ReturnType<typeof callsAs>, campaign: { id: string }) => ({
  rule: (fields: object = {}) =>
    did<RuleReply>('POST', '/api/rules', { ...ZONE_RULE, over: { campaign_ids: [campaign.id] }, ...fields }),
  check: (id: string) => did<Check>('POST', `/api/rules/${id}/check`),
  log: async (id: string) => (await did<{ data: Check[] }>('GET', `/api/rules/${id}/log`)).data,
  tried: (id: string, days = 7) => did<TriedRule>('POST', `/api/rules/${id}/try`, { days }),
  async leftOut(of: { id: string } = campaign) {
    const url = `/api/campaigns/${of.id}/left-out`
    return (await did<{ data: { value: string; rule_id: string | null; note: string | null }[] }>('GET', url)).data
  },
  undo: (id: string | null) => ask('POST', `/api/history/${id}/undo`, {}),
})

export async function seedRuled(house: TestHouse) {
  const owner = await seedSignedIn(house)
  const calls = callsAs(house, owner)
  const { did } = calls
  const url = 'https://o.example/?c={click_id}'
  const offer = await did<{ id: string }>('POST', '/api/offers', { name: 'O', url, payout: '5' })
  const campaignOf = (name = 'Summer') =>
    did<{ id: string; key: string }>('POST', '/api/campaigns', {
      name,
      destination: { type: 'offer', offer_id: offer.id },
      fallback_url: 'https://back.example/',
    })
  const campaign = await campaignOf()
  /** Stores clicks, and reports their conversions. Returns the ids of the clicks. */
  async function visit(zones: readonly ZoneClicks[], of: { id: string } = campaign): Promise<string[]> {
    const objects = { campaign: toUuid(of.id) ?? '', offer: toUuid(offer.id) ?? '' }
    const clicks = zones.flatMap(({ sub1, hours_ago, clicks: number, cost = '1' }) =>
      Array.from({ length: number }, (_, place) => {
        const at = Date.now() - hours_ago * RULE_HOUR + place
        const id = mintClickId(house.ground.secrets.clickKey, owner.org_id, at)
        return { id, at, ...objects, sub1, cost, cost_counts: true, geo: 'DE' }
      }),
    )
    await seedUnsealed(house.database, owner.org_id, clicks)
    let first = 0
    for (const { clicks: number, converted = 0, payout } of zones) {
      for (const { id } of clicks.slice(first, first + converted))
        await did('POST', '/api/events', { clickId: toWireId(id), type: 'lead', ...(payout && { payout }) })
      first += number
    }
    return clicks.map(({ id }) => toWireId(id))
  }
  return { owner, ...calls, offer, campaign, campaignOf, visit, ...ruleCalls(calls, campaign) }
}
