/** What was done to objects so far: acts of rules, left-out values, paused campaigns. Reads `left_out_values`. */
import { type Kysely, sql } from 'kysely'
import { msOfDatabase } from '../../contract/moments.ts'
import type { RuleField } from '../../contract/rules.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { isInForce } from '../../traffic/left-out/fields.ts'
import { ONCE_MS } from './acts.ts'
import type { RuleAct } from './api.ts'
import { type JudgedObject, keyOfObject } from './figures.ts'
import type { ReachedCampaign } from './reach.ts'
import type { RuleRow } from './stored.ts'

type Place = Omit<JudgedObject, 'figures'>
/** An object that the rule has left out or paused, and when. */
export type OutObject = Place & { readonly acted_ms: number; readonly isOnProbation: boolean }

type ActedRow = { campaign_id: string; field: string; value: string; rule_id: string; act: string; acted_at: string }
type LeftOutRow = Omit<ActedRow, 'rule_id' | 'act' | 'acted_at'> & {
  rule_id: string | null
  until: string | null
  let_in_share: number | null
  created_at: string
}

type Standing = {
  readonly paused: ReadonlySet<string>
  readonly acted: ReadonlyMap<string, ActedRow>
  readonly leftOut: ReadonlyMap<string, LeftOutRow>
}

const placeOf = ({ campaign_id, field, value }: Pick<ActedRow, 'campaign_id' | 'field' | 'value'>): Place =>
  field === '' ? { campaign_id, field: null, value: null } : { campaign_id, field: field as RuleField, value }

/** How these objects, and those that the rule has left out or paused, stand at a moment. */
export async function readStanding(
  db: Kysely<Tables>,
  { org_id, now_ms, rule }: { readonly org_id: number; readonly now_ms: number; readonly rule: Pick<RuleRow, 'id'> },
  campaigns: readonly ReachedCampaign[],
  met: readonly Place[],
): Promise<Standing> {
  const ids = campaigns.map(({ id }) => id)
  const values = ['', ...new Set(met.map(({ value }) => value ?? ''))]
  const which = sql<boolean>`campaign_id = any(${ids}::uuid[]) and (value = any(${values}::text[]) or rule_id = ${rule.id})`
  const acted = await db
    .selectFrom('rule_objects')
    .select(['campaign_id', 'field', 'value', 'rule_id', 'act', 'acted_at'])
    .where('org_id', '=', org_id)
    .where(which)
    .execute()
  const leftOut = await db
    .selectFrom('left_out_values')
    .select(['campaign_id', 'field', 'value', 'rule_id', 'until', 'let_in_share', 'created_at'])
    .where('org_id', '=', org_id)
    .where(which)
    .execute()
  const holds = ({ until }: LeftOutRow) => isInForce(until === null ? null : msOfDatabase(until), now_ms)
  const byKey = <T extends ActedRow | LeftOutRow>(rows: readonly T[]) =>
    new Map(rows.map(row => [keyOfObject(placeOf(row)), row]))
  return {
    paused: new Set(campaigns.flatMap(({ id, status }) => (status === 'active' ? [] : [id]))),
    acted: byKey(acted),
    leftOut: byKey(leftOut.filter(holds)),
  }
}

/** Whether one of the acts would change the object. */
export function isActable(acts: readonly RuleAct[], object: Place, standing: Standing, now_ms: number): boolean {
  const { campaign_id } = object
  const isFree = (place: Place): boolean => {
    const row = standing.acted.get(keyOfObject(place))
    return row === undefined || msOfDatabase(row.acted_at) <= now_ms - ONCE_MS
  }
  const isCampaignFree = isFree({ campaign_id, field: null, value: null })
  return acts.some(({ type }) => {
    if (type === 'leave_out') return isFree(object) && standing.leftOut.get(keyOfObject(object))?.let_in_share !== null
    if (type === 'pause') return isCampaignFree && !standing.paused.has(campaign_id)
    if (type === 'weights') return isFree(object)
    return type === 'cap' && isCampaignFree
  })
}

/** The objects that the rule has left out or paused, and that are so still. */
export function objectsOut({ id }: Pick<RuleRow, 'id'>, { paused, acted, leftOut }: Standing): OutObject[] {
  const values = [...leftOut].flatMap(([key, row]): OutObject[] =>
    row.rule_id === id
      ? [
          {
            ...placeOf(row),
            acted_ms: msOfDatabase(acted.get(key)?.acted_at ?? row.created_at),
            isOnProbation: row.let_in_share !== null,
          },
        ]
      : [],
  )
  const campaigns = [...acted.values()].flatMap((row): OutObject[] =>
    row.rule_id === id && row.act === 'paused' && paused.has(row.campaign_id)
      ? [{ ...placeOf(row), acted_ms: msOfDatabase(row.acted_at), isOnProbation: false }]
      : [],
  )
  return [...values, ...campaigns]
}
