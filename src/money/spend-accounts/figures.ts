/** What an account has cost in the last 30 days, and what of it no campaign is known for. */
import { type Kysely, sql } from 'kysely'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { MOST_DAYS, type SpendAccount, type SpendAccountRead } from './api.ts'

const MOST_UNMATCHED = 200

const firstDay = (now: number): string => dayOf(now - MOST_DAYS * DAY_MS)

type Figures = SpendAccount['last_30_days']

const NOTHING: Figures = { spent: '0', unmatched: '0', unmatched_ids: 0, is_estimated: false }

/** The figures of these accounts, by id. `now` in Unix milliseconds. */
export async function readFigures(
  db: Kysely<Tables>,
  org_id: number,
  ids: readonly string[],
  now: number,
): Promise<(id: string) => Figures> {
  if (ids.length === 0) return () => NOTHING
  const { rows } = await sql<Figures & { account_id: string }>`
    select account_id, trim_scale(sum(amount)) as spent,
      trim_scale(coalesce(sum(amount) filter (where campaign_id is null), 0)) as unmatched,
      (count(distinct external_id) filter (where campaign_id is null))::int as unmatched_ids,
      bool_or(is_estimated) as is_estimated
    from account_spend
    where org_id = ${org_id} and account_id = any(${[...ids]}::uuid[]) and day >= ${firstDay(now)}::date
    group by account_id`.execute(db)
  const found = new Map(rows.map(({ account_id, ...figures }) => [account_id, figures]))
  return id => found.get(id) ?? NOTHING
}

/** The ids without a campaign, those that cost most first. */
export async function readUnmatched(
  db: Kysely<Tables>,
  org_id: number,
  account_id: string,
  now: number,
): Promise<SpendAccountRead['unmatched']> {
  const { rows } = await sql<SpendAccountRead['unmatched'][number]>`
    select external_id, max(name) as name, trim_scale(sum(amount)) as amount, min(day) as first_day, max(day) as last_day
    from account_spend
    where org_id = ${org_id} and account_id = ${account_id} and campaign_id is null and day >= ${firstDay(now)}::date
    group by external_id
    order by sum(amount) desc, external_id
    limit ${MOST_UNMATCHED}`.execute(db)
  return rows
}

/** The UTC days that cost something, newest first. */
export async function readDays(
  db: Kysely<Tables>,
  org_id: number,
  account_id: string,
  now: number,
): Promise<SpendAccountRead['days']> {
  const { rows } = await sql<SpendAccountRead['days'][number]>`
    select day, trim_scale(sum(amount)) as spent,
      trim_scale(coalesce(sum(amount) filter (where campaign_id is null), 0)) as unmatched,
      bool_or(is_estimated) as is_estimated
    from account_spend
    where org_id = ${org_id} and account_id = ${account_id} and day >= ${firstDay(now)}::date
    group by day
    order by day desc`.execute(db)
  return rows
}
