/** The lane of postbacks: finds the rules with due deliveries and fills in their addresses. Reads rules, events and clicks. */
import { boundsOf } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { recordOwnChange } from '../../ground/history/own-changes.ts'
import type { ComposedDelivery, Lane } from '../deliveries/lane.ts'
import { findPast } from './backfill.ts'
import {
  type RuleAddress,
  type PostbackConversion,
  lacksRefId,
  needsClick,
  NO_REF_ID,
  composeCall,
  REVISION_COLUMNS,
} from './render.ts'
import { ruleName } from './rule-name.ts'

// One lookup in the index of due deliveries per rule, however long its queue is; the limit makes the planner use it.
const FIND_TARGETS = (among: Among) => `
  select r.org_id, r.id as target_id, r.url
  from postback_rules r
  cross join lateral (
    select 1 from deliveries d
    where d.org_id = r.org_id and d.kind = 'postback' and d.target_id = r.id and d.state = 'pending' and d.run_at <= now()${among('d.org_id')}
    limit 1
  ) due
  where true${among('r.org_id')}`

// The limits force lookups by primary key: without them the planner may read all deliveries of a rule.
const READ = `
  select d.id, r.url, r.method, r.active, r.traffic_source_id, r.deleted_at is not null as is_deleted,
    c.id is not null as has_click, ${REVISION_COLUMNS}
  from unnest($2::uuid[]) as due (id)
  cross join lateral (select * from deliveries where org_id = $1 and id = due.id limit 1) d
  cross join lateral (select * from postback_rules where org_id = $1 and id = d.target_id limit 1) r
  cross join lateral (select * from events where org_id = $1 and id = d.event_id limit 1) e
  left join lateral (
    select status, amount from event_revisions where org_id = $1 and event_id = d.event_id and seq = d.seq limit 1
  ) v on true
  left join lateral (select * from clicks where org_id = $1 and id = d.click_id and id between $3 and $4 limit 1) c on true`

const SWITCH_OFF = `
  update postback_rules
  set active = false, switched_off_at = $3, switched_off_reason = $4, updated_at = $3
  where org_id = $1 and id = $2 and active and deleted_at is null
  returning event_type, url`

const READ_ACTIVE = `select url from postback_rules where org_id = $1 and id = $2 and active and deleted_at is null`

type PostbackDeliveryRow = PostbackConversion &
  RuleAddress & {
    id: string
    active: boolean
    is_deleted: boolean
    has_click: boolean
    traffic_source_id: string | null
  }

export const postbackLane: Lane = {
  kind: 'postback',
  async findTargets(pool) {
    const { rows } = await askEverywhere<{ org_id: number; target_id: string; url: string }>(pool, FIND_TARGETS)
    return rows.map(({ org_id, target_id, url }) => ({ org_id, target_id, origin: URL.parse(url)?.origin ?? url }))
  },
  async compose(client, org_id, due) {
    const [ids, clicks] = [due.map(({ id }) => id), due.map(({ click_id }) => click_id)]
    const { rows } = await client.query<PostbackDeliveryRow>(READ, [org_id, ids, ...boundsOf(clicks)])
    return rows.map(compose)
  },
  async switchOff(client, org_id, target_id, reason) {
    const object = { kind: 'postback', id: target_id } as const
    await recordOwnChange(client, org_id, { because: 'schedule', object, isPatient: false }, async () => {
      const at = new Date().toISOString()
      const { rows } = await client.query<{ event_type: string | null; url: string }>(SWITCH_OFF, [
        org_id,
        target_id,
        at,
        reason,
      ])
      if (rows[0] === undefined) return undefined
      return {
        name: ruleName(rows[0]),
        before: { active: true, switched_off_at: null, switched_off_reason: null },
        after: { active: false, switched_off_at: at, switched_off_reason: reason },
      }
    })
  },
  async nameTarget(client, org_id, target_id) {
    const { rows } = await client.query<{ url: string }>(READ_ACTIVE, [org_id, target_id])
    return rows[0] && `the postback to ${URL.parse(rows[0].url)?.host ?? 'an address that cannot be called'}`
  },
  findPast,
}

function compose(row: PostbackDeliveryRow): ComposedDelivery {
  const { id } = row
  if (row.is_deleted) return { id, skip: 'the rule was deleted' }
  if (!row.active) return { id, skip: 'the rule is switched off' }
  if (!row.has_click && needsClick(row))
    return { id, skip: 'the click has been deleted, and the address has macros of the click' }
  if (lacksRefId(row, row)) return { id, skip: NO_REF_ID }
  const call = composeCall(row, row)
  return call === undefined ? { id, skip: 'the address of the rule cannot be called' } : { id, call }
}
