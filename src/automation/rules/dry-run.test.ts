// A dry run of past days finds the acts of a rule that ran then, with the same figures, although later conversions are known by now.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestHouse, toWireId, useHouse } from '../../../tests/support/house.ts'
import { RULE_HOUR, seededNumbers, seedRuled } from '../../../tests/support/ruled.ts'
import { seedUnsealed } from '../../../tests/support/explored.ts'
import { toUuid } from '../../contract/ids.ts'
import { mintClickId } from '../../intake/clicks/click-id.ts'
import type { TriedRule } from './api.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Place = Awaited<ReturnType<typeof seedRuled>>
const HOURS = 33
const ZONES = 6

type Click = { id: string; at: number; sub1: string; cost: string }
type Event = { click: string; at: number; payout: string; rejected_at: number | undefined }

/** Clicks of zones in the hours before `end`, and conversions that are recorded hours later, some of which are rejected later still. */
function traffic(key: Buffer, org_id: number, end: number): { clicks: Click[]; events: Event[] } {
  const next = seededNumbers(7)
  const clicks: Click[] = []
  const events: Event[] = []
  for (let hour = HOURS; hour > 0; hour -= 1)
    for (let zone = 0; zone < ZONES; zone += 1)
      for (let count = Math.floor(next() * 6); count > 0; count -= 1) {
        const at = end - hour * RULE_HOUR + Math.floor(next() * RULE_HOUR)
        const id = mintClickId(key, org_id, at)
        clicks.push({ id, at, sub1: `zone ${zone}`, cost: (0.5 + zone / 4).toFixed(2) })
        if (next() > 0.12) continue
        const recorded = at + Math.floor(next() * 9 * RULE_HOUR)
        const rejected_at = next() < 0.3 ? recorded + Math.floor(next() * 12 * RULE_HOUR) : undefined
        events.push({ click: id, at: recorded, payout: String(2 + zone), rejected_at })
      }
  return { clicks, events }
}

/** Records what happened between two times, as at that time. */
async function recordUntil(place: Place, events: readonly Event[], from: number, to: number): Promise<void> {
  const { worker } = house.database
  const { org_id } = place.owner
  const within = (at: number | undefined) => at !== undefined && at >= from && at < to
  for (const { click, at, payout, rejected_at } of events) {
    if (within(at)) {
      await place.did('POST', '/api/events', { clickId: toWireId(click), type: 'lead', payout })
      await worker.query('update events set created_at = $3 where org_id = $1 and click_id = $2', [
        org_id,
        click,
        new Date(at),
      ])
    }
    if (!within(rejected_at)) continue
    const { rows } = await worker.query<{ id: string }>('select id from events where org_id = $1 and click_id = $2', [
      org_id,
      click,
    ])
    const id = rows[0]?.id ?? ''
    await place.did('POST', `/api/events/${toWireId(id)}/revisions`, { status: 'rejected' })
    await worker.query('update event_revisions set created_at = $3 where org_id = $1 and event_id = $2', [
      org_id,
      id,
      new Date(rejected_at ?? 0),
    ])
  }
}

test('a dry run of past days equals what the rule then did', async t => {
  const place = await seedRuled(house)
  const { org_id } = place.owner
  const end = Math.floor(Date.now() / RULE_HOUR) * RULE_HOUR
  const { clicks, events } = traffic(house.ground.secrets.clickKey, org_id, end)
  const campaign = toUuid(place.campaign.id) ?? ''
  const stored = clicks.map(click => ({ ...click, campaign, offer: toUuid(place.offer.id) ?? '', cost_counts: true }))
  await seedUnsealed(house.database, org_id, stored)
  const rule = await place.rule({
    when: [
      { figure: 'roi', is: 'below', value: -0.3 },
      { figure: 'approval_rate', is: 'below', value: 0.95 },
    ],
    window: { hours: 12, leave_out_newest_hours: 2 },
    at_least: { clicks: 12 },
    then: [{ type: 'leave_out' }],
    back: { when: [{ figure: 'roi', is: 'above', value: -0.65 }] },
    stop_line: { clicks_percent: 45 },
  })
  const done: TriedRule['acts'] = []
  const asked: string[] = []
  t.mock.timers.enable({ apis: ['Date'], now: end - HOURS * RULE_HOUR })
  await recordUntil(place, events, 0, end - HOURS * RULE_HOUR)
  for (let hour = HOURS - 1; hour >= 0; hour -= 1) {
    const at = end - hour * RULE_HOUR
    await recordUntil(place, events, at - RULE_HOUR, at)
    t.mock.timers.setTime(at)
    const check = await place.check(rule.id)
    if (check.state === 'asked') asked.push(check.id)
    else
      done.push(...check.objects.map(({ history_id: _, ...object }) => ({ at: new Date(at).toISOString(), ...object })))
  }
  t.mock.timers.setTime(end + RULE_HOUR / 2)
  await recordUntil(place, events, end, end + 30 * RULE_HOUR)
  const { acts, checks, from, to } = await place.tried(rule.id)
  const since = new Date(end - HOURS * RULE_HOUR).toISOString()
  const sorted = (of: TriedRule['acts']) =>
    of.toSorted((a, b) => (JSON.stringify([a.at, a.value]) < JSON.stringify([b.at, b.value]) ? -1 : 1))
  assert.ok(
    done.some(({ act }) => act === 'left_out') && done.some(({ act }) => act === 'let_in'),
    JSON.stringify(done),
  )
  assert.deepEqual(sorted(acts.filter(({ at }) => at > since)), sorted(done))
  assert.deepEqual([checks, Date.parse(to) - Date.parse(from), Date.parse(to)], [168, 7 * 24 * RULE_HOUR, end])
})
