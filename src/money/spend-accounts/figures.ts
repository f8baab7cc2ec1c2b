/** An account's spend in the last 30 days, and the part that matches no campaign. */
import { type Kysely, sql } from 'kysely'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { MOST_DAYS, type SpendAccount, type SpendAccountRead } from './api.ts'

const MOST_UNMATCHED = 200

const firstDay = (now: number): string => dayOf(now - MOST_DAYS * DAY_MS)

type AccountFigures = SpendAccount['last_30_days']

const NO_SPEND: AccountFigures = { spent: '0', unmatched: '0', unmatched_ids: 0, is_estimated: false }

/** Reads the figures of these accounts and returns a lookup by id. `now` in Unix milliseconds. */
export async function readAccountFigures(
  db: Kysely<Tables>,
  org_id: number,
  ids: readonly string[],
  now: number,
): Promise<(id: string) => AccountFigures> {
  if (ids.length === 0) return () => NO_SPEND
  const { rows } = await sql<AccountFigures & { account_id: string }>`
    select account_id, trim_scale(sum(amount)) as spent,
      trim_scale(coalesce(sum(amount) filter (where campaign_id is null), 0)) as unmatched,
      (count(distinct external_id) filter (where campaign_id is null))::int as unmatched_ids,
      bool_or(is_estimated) as is_estimated
    from account_spend
    where org_id = ${org_id} and account_id = any(${[...ids]}::uuid[]) and day >= ${firstDay(now)}::date
    group by account_id`.execute(db)
  const found = new Map(rows.map(({ account_id, ...figures }) => [account_id, figures]))
  return id => found.get(id) ?? NO_SPEND
}

/** The ids without a campaign, the largest spend first. */
export async function readUnmatchedSpend(
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

/** The UTC days with spend, newest first. */
export async function readSpendDays(
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
