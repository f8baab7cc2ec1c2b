/** Rules as they are stored. */
import type { Kysely } from 'kysely'
import { DAY_MS } from '../../contract/days.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type * as api from './api.ts'

export type Definition = Omit<api.RuleFields, 'name' | 'active'>
type RuleState = api.ResultRule['state']

/** A rule as stored. */
export type RuleRow = {
  readonly id: string
  readonly name: string
  readonly active: boolean
  readonly version: number
  readonly definition: Definition
  readonly state: RuleState
  readonly waits_for: string | null
  readonly asked_check_id: string | null
  readonly asked_at: string | null
  readonly zone: string
  readonly next_check_at: string | null
  readonly due_checked_at: string | null
  readonly created_at: string
  readonly updated_at: string
}

const COLUMNS = [
  'id',
  'name',
  'active',
  'version',
  'definition',
  'state',
  'waits_for',
  'asked_check_id',
  'asked_at',
  'zone',
  'next_check_at',
  'due_checked_at',
  'created_at',
  'updated_at',
] as const

/** A check that asked can be confirmed for so long. */
export const ASKED_MS = DAY_MS

export const rulesOf = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('rules').select(COLUMNS).where('org_id', '=', org_id).$castTo<RuleRow>()

/** One rule. Refuses `object_not_found`. */
export async function requireRule(db: Kysely<Tables>, org_id: number, id: string): Promise<RuleRow> {
  const row = await rulesOf(db, org_id).where('id', '=', id).executeTakeFirst()
  return row ?? refuse('object_not_found')
}

/** The time zone of the workspace. */
export async function workspaceZone(db: Kysely<Tables>, org_id: number): Promise<string> {
  const found = db.selectFrom('organizations').select('timezone').where('org_id', '=', org_id)
  return (await found.executeTakeFirst())?.timezone ?? 'UTC'
}

/** The check that waits to be confirmed; undefined if there is none, or it is too old. */
export function askedCheck({ asked_check_id, asked_at }: RuleRow, now_ms: number): string | undefined {
  if (asked_check_id === null || asked_at === null) return undefined
  return msOfDatabase(asked_at) > now_ms - ASKED_MS ? asked_check_id : undefined
}
