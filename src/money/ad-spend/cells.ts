/** Writes the amounts of many cells by one statement each: for files of spend, and for such files put back. */
import { sql, type Transaction } from 'kysely'
import { USD } from '../../contract/currencies.ts'
import { refuse } from '../../contract/refusals.ts'
import { cut, TEXT_BYTES } from '../../contract/texts.ts'
import type { Config } from '../../ground/config.ts'
import type { Database } from '../../ground/db/connect.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { unknownRate } from '../rates/rate-of-day.ts'
import { spendInDollars } from './ad-spend.ts'
import type * as api from './api.ts'

export type OriginalAmount = NonNullable<api.SpendLine['original']>

export type SpendChange = {
  campaign_id: string
  day: string
  sub1: string
  amount: string | null
  original: OriginalAmount | null
}

/** Sets the amounts, each in place of the earlier one, and deletes those that are null. */
export async function writeSpend(
  trx: Transaction<Tables>,
  org_id: number,
  rows: readonly SpendChange[],
): Promise<readonly SpendChange[]> {
  const columns = (of: readonly SpendChange[]) => ({
    days: of.map(({ day }) => day),
    campaigns: of.map(({ campaign_id }) => campaign_id),
    subs: of.map(({ sub1 }) => sub1),
  })
  const gone = columns(rows.filter(({ amount }) => amount === null))
  await sql`
    delete from ad_spend
    where org_id = ${org_id} and (day, campaign_id, sub1) in (
      select * from unnest(${gone.days}::date[], ${gone.campaigns}::uuid[], ${gone.subs}::text[]))`.execute(trx)
  const kept = rows.filter(({ amount }) => amount !== null)
  const { days, campaigns, subs } = columns(kept)
  const of = (name: keyof OriginalAmount) => kept.map(({ original }) => original?.[name] ?? null)
  await sql`
    insert into ad_spend (org_id, campaign_id, day, sub1, amount, original_amount, currency, usd_per_unit, rate_day, rate_source,
      source, updated_at)
    select ${org_id}::int, campaign_id, day, sub1, amount, original_amount, currency, usd_per_unit, rate_day, rate_source,
      'manual', ${new Date().toISOString()}::timestamptz
    from unnest(${days}::date[], ${campaigns}::uuid[], ${subs}::text[], ${kept.map(({ amount }) => amount)}::numeric[],
      ${of('original_amount')}::numeric[], ${of('currency')}::text[], ${of('usd_per_unit')}::numeric[], ${of('rate_day')}::date[],
      ${of('rate_source')}::text[])
      as chosen (day, campaign_id, sub1, amount, original_amount, currency, usd_per_unit, rate_day, rate_source)
    on conflict (org_id, day, campaign_id, sub1)
      do update set amount = excluded.amount, source = excluded.source, updated_at = excluded.updated_at,
        original_amount = excluded.original_amount, currency = excluded.currency, usd_per_unit = excluded.usd_per_unit,
        rate_day = excluded.rate_day, rate_source = excluded.rate_source`.execute(trx)
  return rows
}

type SpendPlace = {
  readonly trx: Transaction<Tables>
  readonly config: Config
  readonly database: Database
  readonly actor: { readonly org_id: number }
}

/** Records each draft as `PUT /api/ad-spend` of a member does, all or none. Refuses `object_not_found` and `rate_unknown`. */
export async function recordSpendTogether(place: SpendPlace, drafts: readonly api.AdSpendDraft[]): Promise<void> {
  const { org_id } = place.actor
  const ids = [...new Set(drafts.map(({ campaign_id }) => campaign_id))]
  const { rows } = await sql`
    select 1 from campaigns where org_id = ${org_id} and id = any(${ids}::uuid[])`.execute(place.trx)
  if (rows.length < ids.length) refuse('object_not_found')
  const amounts = drafts.flatMap(({ currency, day, amount }, at) =>
    amount === null ? [] : [{ at, currency: currency ?? USD, day, amount }],
  )
  const dollars = await spendInDollars(place, amounts)
  const byDraft = new Map(amounts.map((amount, nth) => [amount.at, dollars[nth] ?? unknownRate(amount)]))
  const changes = drafts.map(({ campaign_id, day, sub1 }, at): SpendChange => {
    const money = byDraft.get(at) ?? { amount: null, original: null }
    if (money instanceof Error) throw money
    return { campaign_id, day, sub1: cut(sub1 ?? '', TEXT_BYTES), ...money }
  })
  await writeSpend(place.trx, org_id, changes)
}
