/** Dry runs of rules over past days. They read, and change nothing. */
import { sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import { NIL_ID } from '../../contract/ids.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import type { RuleField } from '../../contract/rules.ts'
import type { Context, Ground } from '../../ground/room.ts'
import { idOf } from '../../ground/room.ts'
import type * as api from './api.ts'
import { lastDue, nextDue, type Rhythm } from './clock.ts'
import { type LeftOutBefore, tryTimes } from './dry-run.ts'
import { keyOfObject } from './figures.ts'
import { readPayouts } from './payouts.ts'
import { campaignsOver, requireReferences, requireSpendByHour } from './reach.ts'
import { readRecorded } from './recorded.ts'
import { definitionOf } from './rules.ts'
import { type Definition, requireRule, workspaceZone } from './stored.ts'

type Trying = Ground & { readonly actor: { readonly org_id: number } }

export const tryDeeds = {
  /** Refuses `invalid_request`, `spend_by_day_only` and `question_too_wide`. */
  async tryRule(context: Context<typeof api.tryRule>, { body }: Call<typeof api.tryRule>): Promise<api.TriedRule> {
    const { db, actor } = context
    const definition = definitionOf(body.rule)
    await requireReferences(db, actor.org_id, definition)
    return await tryDefinition(context, definition, body.days)
  },

  /** Refuses `object_not_found`, `spend_by_day_only` and `question_too_wide`. */
  async trySavedRule(
    context: Context<typeof api.trySavedRule>,
    { params, body }: Call<typeof api.trySavedRule>,
  ): Promise<api.TriedRule> {
    const { org_id } = context.actor
    const { id, definition } = await requireRule(context.db, org_id, idOf(params.id))
    return await tryDefinition(context, definition, body.days, id)
  },
}

async function tryDefinition(
  context: Trying,
  rule: Definition,
  days: number,
  rule_id = NIL_ID,
): Promise<api.TriedRule> {
  const { db, database, actor } = context
  const { org_id } = actor
  await requireSpendByHour(db, org_id, rule)
  const zone = await workspaceZone(db, org_id)
  const rhythm: Rhythm = rule.every === 'day' ? rule : { every: 60 }
  const to_ms = lastDue(rhythm, zone, Date.now())
  const from_ms = to_ms - days * DAY_MS
  const times: number[] = []
  for (let time = nextDue(rhythm, zone, from_ms); time <= to_ms; time = nextDue(rhythm, zone, time)) times.push(time)
  const { hours, leave_out_newest_hours } = rule.window
  // The clicks of the day before count for the stop line.
  const earliest = from_ms - Math.max((hours + leave_out_newest_hours) * HOUR_MS, 2 * DAY_MS)
  const phase_ms = to_ms % HOUR_MS
  const campaigns = (await campaignsOver(db, org_id, rule.over)).map(({ id }) => id)
  const changes = await readRecorded(database.reads, {
    org_id,
    campaigns,
    value_of: rule.value_of,
    zone,
    from_ms: earliest - (earliest % DAY_MS),
    to_ms: Date.now(),
    phase_ms,
    payouts: await readPayouts(context, org_id),
  })
  const leftOutBefore = rule.value_of === null ? new Map() : await readLeftOutBefore(context, rule, campaigns, rule_id)
  const result = tryTimes({ rule, zone, times, phase_ms, changes, leftOutBefore })
  return { from: new Date(from_ms).toISOString(), to: new Date(to_ms).toISOString(), checks: times.length, ...result }
}

/** The values that were left out otherwise than by the rule, and since when. */
async function readLeftOutBefore(
  { db, actor }: Trying,
  { value_of }: Definition,
  campaigns: readonly string[],
  rule_id: string,
): Promise<LeftOutBefore> {
  const rows = await db
    .selectFrom('left_out_values')
    .select(['campaign_id', 'field', 'value', 'created_at'])
    .where('org_id', '=', actor.org_id)
    .where('field', '=', value_of ?? '')
    .where(sql<boolean>`campaign_id = any(${campaigns}::uuid[]) and rule_id is distinct from ${rule_id}::uuid`)
    .execute()
  return new Map(
    rows.map(({ campaign_id, field, value, created_at }) => [
      keyOfObject({ campaign_id, field: field as RuleField, value }),
      msOfDatabase(created_at),
    ]),
  )
}
