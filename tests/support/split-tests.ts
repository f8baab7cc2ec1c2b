// Split tests for rooms that count and move them: a funnel of two landings and a flow of two branches with a past, and visits of any age.
import assert from 'node:assert/strict'
import { DAY_MS } from '../../src/contract/days.ts'
import { toUuid } from '../../src/contract/ids.ts'
import type { SplitTest } from '../../src/reading/split-tests/api.ts'
import { parted } from './graphs.ts'
import { newId, type TestHouse } from './house.ts'
import { type SignedIn, seedSignedIn } from './people.ts'

export type TestedPlace = Awaited<ReturnType<typeof seedTested>>

/** An owner, and calls as them. */
export async function seedTested(house: TestHouse) {
  const owner = await seedSignedIn(house)
  const made = async (path: string, body: object): Promise<{ id: string; key?: string }> => {
    const reply = await house.call('POST', path, { ...owner, body })
    assert.equal(reply.statusCode, 201, reply.body)
    return reply.json()
  }
  const landing = async (name: string) => (await made('/api/landings', { name, url: `https://${name}.example/` })).id
  const testsOf = async (path: string, person: SignedIn = owner) => {
    const reply = await house.call('GET', `/api/${path}/tests`, person)
    assert.equal(reply.statusCode, 200, reply.body)
    return reply.json<{ data: SplitTest[] }>().data
  }
  const visited = (campaign: string, visits: readonly TestVisit[]) => visit(house, owner.org_id, campaign, visits)
  return { house, owner, made, landing, testsOf, visited }
}

/** A funnel of two landings that is eleven days old, with a campaign that leads to it. */
export async function twoLandings({ house, owner, made, landing }: TestedPlace) {
  const [a, b] = [await landing('one'), await landing('two')]
  const offer = await made('/api/offers', { name: 'O', url: 'https://offer.example/' })
  const funnel = await made('/api/funnels', {
    name: 'F',
    landings: [
      { landing_id: a, weight: 60 },
      { landing_id: b, weight: 40 },
    ],
    offers: [{ offer_id: offer.id, weight: 1 }],
  })
  const campaign = await made('/api/campaigns', { name: 'C', destination: { type: 'funnel', funnel_id: funnel.id } })
  const { worker } = house.database
  const begun = new Date(Date.now() - 11 * DAY_MS)
  for (const table of ['funnels', 'history'])
    await worker.query(`update ${table} set created_at = $2 where org_id = $1`, [owner.org_id, begun])
  return { a, b, funnel: funnel.id, campaign: campaign.id, offer: offer.id }
}

export type TestVisit = {
  landing: string
  days_ago: number
  visitor?: string
  converted_after_days?: number
  payout?: string
  rejected?: true
  more?: Record<string, unknown>
}

/** Stores clicks and conversions with their times. */
async function visit(house: TestHouse, org_id: number, campaign: string, visits: readonly TestVisit[]): Promise<void> {
  const { worker } = house.database
  const clicks = visits.map(({ landing, days_ago, visitor = newId(), more }) => ({
    id: newId(Date.now() - days_ago * DAY_MS),
    campaign_id: toUuid(campaign),
    landing_id: toUuid(landing),
    visitor_id: visitor,
    tracked: true,
    test: false,
    left_out: null,
    stages: 1,
    status: 0,
    suppressed_delivery: false,
    ...more,
  }))
  const names =
    'id, campaign_id, landing_id, visitor_id, tracked, test, left_out, stages, status, suppressed_delivery, click_flow_node_path'
  await worker.query(
    `insert into clicks (org_id, ${names}) select $1, ${names} from json_populate_recordset(null::clicks, $2)`,
    [org_id, JSON.stringify(clicks)],
  )
  const events = visits.flatMap(({ days_ago, converted_after_days, payout = '0', rejected }, at) =>
    converted_after_days === undefined
      ? []
      : [
          {
            id: newId(),
            click_id: clicks[at]?.id,
            payout,
            rejected: rejected === true,
            created_at: new Date(Date.now() - (days_ago - converted_after_days) * DAY_MS).toISOString(),
          },
        ],
  )
  await worker.query(
    `insert into events (org_id, id, click_id, campaign_id, type, source, payout, payout_is_explicit, person_id, test, created_at)
    select $1, id, click_id, $3, 'lead', 'api', payout, true, id, false, created_at
    from json_to_recordset($2) as e(id uuid, click_id uuid, payout numeric, created_at timestamptz)`,
    [org_id, JSON.stringify(events), toUuid(campaign)],
  )
  await worker.query(
    `insert into event_revisions (org_id, event_id, seq, status, amount, source, created_at)
    select $1, id, 1, 'rejected', 0, 'api', now() from json_to_recordset($2) as e(id uuid, rejected boolean) where rejected`,
    [org_id, JSON.stringify(events)],
  )
}

/** A published flow whose split is eleven days old, with a campaign that leads to it. */
export async function twoBranches({ house, owner, made }: TestedPlace) {
  const flow = await made('/api/click-flows', { name: 'Flow', graph: parted(1, 1) })
  const published = await house.call('POST', `/api/click-flows/${flow.id}/publish`, { ...owner, body: {} })
  assert.equal(published.statusCode, 200, published.body)
  const destination = { type: 'click_flow', click_flow_id: flow.id }
  const campaign = await made('/api/campaigns', { name: 'C', destination })
  await house.database.worker.query('update click_flow_versions set published_at = $2 where org_id = $1', [
    owner.org_id,
    new Date(Date.now() - 11 * DAY_MS),
  ])
  return { flow: flow.id, campaign: campaign.id }
}

/** A visit that took a branch of that split. */
export const branch = (end: 'end0' | 'end1', visit: Omit<TestVisit, 'landing'>): TestVisit => ({
  ...visit,
  landing: '',
  more: { click_flow_node_path: `1:entry>part>${end}` },
})

/** So many of the same visit. */
export const visitsOf = (count: number, one: TestVisit): TestVisit[] => Array.from({ length: count }, () => one)
