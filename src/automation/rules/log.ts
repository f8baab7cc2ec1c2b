/** The log of rules: a row for each check that acted, waited or asked. */
import type { Kysely } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import type * as api from './api.ts'
import { requireRule } from './stored.ts'

const COLUMNS = [
  'id',
  'rule_version',
  'checked_at',
  'window_from',
  'window_to',
  'state',
  'reason',
  'objects',
  'confirmed_at',
] as const

export type CheckRow = {
  readonly id: string
  readonly rule_version: number
  readonly checked_at: string
  readonly window_from: string
  readonly window_to: string
  readonly state: api.RuleCheck['state']
  readonly reason: string | null
  readonly objects: api.RuleCheck['objects']
  readonly confirmed_at: string | null
}

export const describeCheck = ({
  rule_version: version,
  window_from: from,
  window_to: to,
  confirmed_at: _,
  ...row
}: CheckRow): api.RuleCheck => ({ ...row, version, window: { from, to } })

export const checksOf = (db: Kysely<Tables>, org_id: number, rule_id: string) =>
  db
    .selectFrom('rule_checks')
    .select(COLUMNS)
    .where('org_id', '=', org_id)
    .where('rule_id', '=', rule_id)
    .$castTo<CheckRow>()

/** The log of a rule, newest first. Refuses `object_not_found`. */
export async function listRuleChecks(
  { db, actor }: Context<typeof api.listRuleChecks>,
  { params, query }: Call<typeof api.listRuleChecks>,
) {
  const { id } = await requireRule(db, actor.org_id, idOf(params.id))
  const { data, next_cursor } = await newestFirst(checksOf(db, actor.org_id, id), query)
  return { data: data.map(describeCheck), next_cursor }
}

export async function storeCheck(
  trx: Kysely<Tables>,
  org_id: number,
  rule_id: string,
  { id, version, checked_at, window, state, reason, objects }: api.RuleCheck,
): Promise<void> {
  await trx
    .insertInto('rule_checks')
    .values({
      org_id,
      id,
      rule_id,
      rule_version: version,
      checked_at,
      window_from: window.from,
      window_to: window.to,
      state,
      reason,
      objects: JSON.stringify(objects),
    })
    .execute()
}
