// The campaigns that a rule is over, the objects that it names, and whether their spend is known well enough.
import { type Kysely, sql } from 'kysely'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { refuse } from '../../contract/refusals.ts'
import { type Condition, type Over, SPEND_FIGURES } from '../../contract/rules.ts'
import type { Window } from '../../contract/window.ts'
import { hasTag } from '../../ground/db/labels.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Definition } from './stored.ts'

export type ReachedCampaign = { readonly id: string; readonly name: string; readonly status: string }

/** The campaigns that the rule is over now, without archived ones. */
export async function campaignsOver(db: Kysely<Tables>, org_id: number, over: Over): Promise<ReachedCampaign[]> {
  let rows = db
    .selectFrom('campaigns')
    .select(['id', 'name', 'status'])
    .where('org_id', '=', org_id)
    .where('deleted_at', 'is', null)
    .where('status', '<>', 'archived')
  if ('campaign_ids' in over) rows = rows.where('id', '=', sql<string>`any(${over.campaign_ids}::uuid[])`)
  else if ('tag_id' in over) rows = rows.where(hasTag(over.tag_id))
  else rows = rows.where('traffic_source_id', '=', over.traffic_source_id)
  return await rows.orderBy('id').execute()
}

/** What a rule names, by field: the ids, and their table. */
function* named({ over, then }: Definition): Generator<[field: string, table: keyof Tables, ids: readonly string[]]> {
  if ('campaign_ids' in over) yield ['over.campaign_ids', 'campaigns', over.campaign_ids]
  else if ('tag_id' in over) yield ['over.tag_id', 'tags', [over.tag_id]]
  else yield ['over.traffic_source_id', 'traffic_sources', [over.traffic_source_id]]
  for (const act of then) {
    if (act.type === 'tell') yield ['then.receiver_ids', 'receivers', act.receiver_ids]
    if (act.type === 'leave_out' && act.leads_to?.type === 'offer')
      yield ['then.leads_to.offer_id', 'offers', [act.leads_to.offer_id]]
  }
}

const KEPT_DELETED: readonly (keyof Tables)[] = ['campaigns', 'traffic_sources', 'offers']

/** Refuses `invalid_request` if the rule names an object that the workspace does not have. What `before` names already may be gone. */
export async function requireReferences(
  db: Kysely<Tables>,
  org_id: number,
  rule: Definition,
  before?: Definition,
): Promise<void> {
  const known = new Set(before === undefined ? [] : [...named(before)].flatMap(([, , ids]) => ids))
  for (const [field, table, ids] of named(rule)) {
    const wanted = new Set(ids.filter(id => !known.has(id)))
    if (wanted.size === 0) continue
    const living = KEPT_DELETED.includes(table) ? sql`and deleted_at is null` : sql``
    const { rows } = await sql`
      select id from ${sql.table(table)} where org_id = ${org_id} and id = any(${[...wanted]}::uuid[]) ${living}`.execute(
      db,
    )
    if (rows.length < wanted.size) refuse('invalid_request', { error: `${field}: the workspace has no such object` })
  }
}

const needsSpend = (condition: Condition): boolean => SPEND_FIGURES.includes(condition.figure)

/** Whether the rule judges spend. */
export const judgesSpend = ({ when, at_least, back }: Definition): boolean =>
  at_least.cost !== undefined || [...when, ...(back !== null && 'when' in back ? back.when : [])].some(needsSpend)

/** Whether spend that is known by day alone is enough for the rule. */
const isByWholeDays = ({ every, window }: Definition): boolean => every === 'day' && window.hours % 24 === 0

/** Spend recorded by day counts for so long. */
const RECENT_MS = 30 * DAY_MS

/** Whether the spend of one of these campaigns is known by day alone, so that the rule cannot judge it by the hour. */
export async function isSpendTooCoarse(
  db: Kysely<Tables>,
  org_id: number,
  rule: Definition,
  campaigns: readonly ReachedCampaign[],
): Promise<boolean> {
  if (!judgesSpend(rule) || isByWholeDays(rule) || campaigns.length === 0) return false
  const ids = campaigns.map(({ id }) => id)
  const since = dayOf(Date.now() - RECENT_MS)
  const { rows } = await sql`
    select 1 from ad_spend where org_id = ${org_id} and campaign_id = any(${ids}::uuid[]) and day >= ${since}::date
    union all
    select 1 from booked_spend where org_id = ${org_id} and campaign_id = any(${ids}::uuid[]) and day >= ${since}::date
    union all
    select 1 from spend_accounts where org_id = ${org_id} and campaign_id = any(${ids}::uuid[]) and deleted_at is null
    limit 1`.execute(db)
  return rows.length > 0
}

/** Refuses `spend_by_day_only`. */
export async function requireSpendByHour(db: Kysely<Tables>, org_id: number, rule: Definition): Promise<void> {
  if (!judgesSpend(rule) || isByWholeDays(rule)) return
  if (await isSpendTooCoarse(db, org_id, rule, await campaignsOver(db, org_id, rule.over))) refuse('spend_by_day_only')
}

/** Whether an ad account that pays for one of the campaigns could not be read for the whole window. */
export async function isSpendUnread(
  db: Kysely<Tables>,
  org_id: number,
  campaigns: readonly ReachedCampaign[],
  { from, to }: Window,
): Promise<boolean> {
  const ids = campaigns.map(({ id }) => id)
  const { rows } = await sql`
    select 1 from spend_accounts a
    where a.org_id = ${org_id} and a.deleted_at is null and a.fault_code is not null
      and (a.synced_at is null or a.synced_at < ${new Date(to).toISOString()}::timestamptz)
      and (a.campaign_id = any(${ids}::uuid[])
        or exists (select from spend_matches m where m.org_id = ${org_id} and m.account_id = a.id
          and m.campaign_id = any(${ids}::uuid[]) and m.seen_on >= ${dayOf(from)}::date))
    limit 1`.execute(db)
  return rows.length > 0
}
