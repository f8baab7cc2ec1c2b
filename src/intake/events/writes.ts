/**
 * The statements a batch writes with. Each takes any number of rows as one JSON parameter: one text to prepare for every batch
 * size, and less work for small batches than an array per column (measured). Each has two forms, like the reads. Inserts have no
 * `on conflict`: under the lock no row can be there already, and if one were, the transaction must fail and be decided again. Only
 * deliveries that may exist already are inserted with `on conflict`, by the outbox's unique indexes.
 */
import type { Forms } from './reads.ts'

/** How a form names the organization: after a row's columns in a list, as a column of the rows, in a comparison. */
type Org = { listed: string; column: string; org: string }

/** `$1` has the rows, then come values common to all rows, and last, in `one` only, the organization. */
function forms(last: number, text: (org: Org) => string): Forms {
  return {
    one: text({ listed: `, $${last}::int`, column: '', org: `$${last}::int` }),
    many: text({ listed: '', column: ', org_id int', org: 't.org_id' }),
  }
}

export const INSERT_EVENTS = forms(
  3,
  ({ listed, column }) => `
  insert into events (created_at, id, click_id, campaign_id, offer_id, type, payout, payout_is_explicit, nonce, payload,
    person_id, bot_id, telegram_user_id, source, test, counted, claimed, confirmed_at, org_id)
  select $2::timestamptz, t.*${listed}
  from json_to_recordset($1) as t(id uuid, click_id uuid, campaign_id uuid, offer_id uuid, type text, payout numeric,
    payout_is_explicit boolean, nonce text, payload json, person_id uuid, bot_id uuid, telegram_user_id text, source text,
    test boolean, counted boolean, claimed json, confirmed_at timestamptz${column})`,
)

export const INSERT_EVENT_MONEY = forms(
  2,
  ({ listed, column }) => `
  insert into event_money (event_id, original_amount, currency, usd_per_unit, rate_day, rate_source, org_id)
  select t.*${listed}
  from json_to_recordset($1) as t(event_id uuid, original_amount numeric, currency text, usd_per_unit numeric, rate_day date,
    rate_source text${column})`,
)

/** For starts whose first explicit payout replaces the inherited one. */
export const DELETE_EVENT_MONEY = forms(
  2,
  ({ org, column }) => `
  delete from event_money m
  using json_to_recordset($1) as t(event_id uuid${column})
  where m.org_id = ${org} and m.event_id = t.event_id`,
)

export const INSERT_ALIASES = forms(
  3,
  ({ listed, column }) => `
  insert into event_aliases (created_at, id, event_id, org_id)
  select $2::timestamptz, t.*${listed}
  from json_to_recordset($1) as t(id uuid, event_id uuid${column})`,
)

export const UPDATE_EVENTS = forms(
  2,
  ({ org, column }) => `
  update events e
  set payout = t.payout, payout_is_explicit = t.payout_is_explicit, payload = t.payload
  from json_to_recordset($1) as t(id uuid, payout numeric, payout_is_explicit boolean, payload json${column})
  where e.org_id = ${org} and e.id = t.id`,
)

/** A browser's report that is confirmed enters the books, and is counted from then on. */
export const CONFIRM_EVENTS = forms(
  2,
  ({ org, column }) => `
  update events e
  set payout = t.payout, payout_is_explicit = t.payout_is_explicit, payload = t.payload, confirmed_at = t.confirmed_at, test = t.test,
    counted = false
  from json_to_recordset($1) as t(id uuid, payout numeric, payout_is_explicit boolean, payload json, confirmed_at timestamptz,
    test boolean${column})
  where e.org_id = ${org} and e.id = t.id`,
)

export const INSERT_REVISIONS = forms(
  3,
  ({ listed, column }) => `
  insert into event_revisions (created_at, event_id, seq, status, amount, original_amount, original_currency, rate, reason, source,
    network_id, actor, counted, org_id)
  select $2::timestamptz, t.*${listed}
  from json_to_recordset($1) as t(event_id uuid, seq smallint, status text, amount numeric, original_amount numeric,
    original_currency text, rate numeric, reason text, source text, network_id uuid, actor uuid, counted boolean${column})`,
)

/** Removes old holds; a new hold of the same event is inserted after it in the same transaction. */
export const DELETE_HOLDS = forms(
  2,
  ({ org, column }) => `
  delete from held_events h
  using json_to_recordset($1) as t(event_id uuid${column})
  where h.org_id = ${org} and h.event_id = t.event_id`,
)

export const INSERT_HOLDS = forms(
  3,
  ({ listed, column }) => `
  insert into held_events (event_id, click_id, seq, approve_at, org_id)
  select t.event_id, t.click_id, t.seq, $2::timestamptz + t.days * interval '1 day'${listed === '' ? ', t.org_id' : listed}
  from json_to_recordset($1) as t(event_id uuid, click_id uuid, seq smallint, days integer${column})`,
)

/**
 * Always updates, because the clicks were read in this transaction. As an upsert it goes by the primary key straight to each row's partition;
 * an update would open every month's.
 */
export const UPDATE_CLICKS = forms(
  2,
  ({ listed, column }) => `
  insert into clicks as c (id, status, stages, tracked, test, revenue, bot_id, suppressed_delivery, cost_counts, approved, pending,
    rejected, revenue_pending, org_id)
  select t.*${listed}
  from json_to_recordset($1) as t(id uuid, status smallint, stages smallint, tracked boolean, test boolean, revenue numeric,
    bot_id uuid, suppressed_delivery boolean, cost_counts boolean, approved integer, pending integer, rejected integer,
    revenue_pending numeric${column})
  on conflict (org_id, id) do update
  set status = excluded.status, stages = excluded.stages, tracked = excluded.tracked, revenue = excluded.revenue,
    bot_id = excluded.bot_id, cost_counts = excluded.cost_counts, approved = excluded.approved,
    pending = excluded.pending, rejected = excluded.rejected, revenue_pending = excluded.revenue_pending`,
)

export const INSERT_PERSONS = forms(
  3,
  ({ listed, column }) => `
  insert into persons (created_at, id, telegram_user_id, org_id)
  select $2::timestamptz, t.*${listed}
  from json_to_recordset($1) as t(id uuid, telegram_user_id text${column})`,
)

export const UPDATE_PERSONS = forms(
  2,
  ({ org, column }) => `
  update persons p
  set telegram_user_id = t.telegram_user_id
  from json_to_recordset($1) as t(id uuid, telegram_user_id text${column})
  where p.org_id = ${org} and p.id = t.id`,
)

export const INSERT_PERSON_KEYS = forms(
  2,
  ({ listed, column }) => `
  insert into person_keys (key, person_id, org_id)
  select t.*${listed}
  from json_to_recordset($1) as t(key text, person_id uuid${column})`,
)

export const INSERT_CHARGES = forms(
  3,
  ({ listed, column }) => `
  insert into ledger (kind, created_at, id, amount, person_id, event_id, org_id)
  select 'charge', $2::timestamptz, t.*${listed}
  from json_to_recordset($1) as t(id uuid, amount numeric, person_id uuid, event_id uuid${column})`,
)

export const MOVE_BALANCES = forms(
  2,
  ({ org, column }) => `
  update balances b
  set balance = b.balance + t.amount
  from json_to_recordset($1) as t(amount numeric${column})
  where b.org_id = ${org}`,
)

export const INSERT_DELIVERIES = forms(3, org => deliveries(org))

/** For rules that call once per person, and for ad accounts that wait for the approval: an existing delivery stays, and a later one is dropped. */
export const INSERT_ONCE = forms(3, org => `${deliveries(org)} on conflict do nothing`)

export const COUNT_FOR_CAPS = forms(
  2,
  ({ listed, column }) => `
  insert into cap_counts as n (reserved, cap_id, period_start, used, reached_at, org_id)
  select 0, t.*${listed}
  from json_to_recordset($1) as t(cap_id uuid, period_start timestamptz, used int, reached_at timestamptz${column})
  on conflict (org_id, cap_id, period_start) do update
  set used = n.used + excluded.used, reached_at = coalesce(n.reached_at, excluded.reached_at)`,
)

/** Sets `updated_at`, by which other processes find the change. */
export const CLOSE_CAPS = forms(
  3,
  ({ org, column }) => `
  update caps c
  set closed_until = t.closed_until, updated_at = $2::timestamptz
  from json_to_recordset($1) as t(id uuid, closed_until timestamptz${column})
  where c.org_id = ${org} and c.id = t.id`,
)

/** Due now by the database's clock, which the worker uses; this process's clock may be ahead of it. */
function deliveries({ listed, column }: Org): string {
  return `
  insert into deliveries (attempts, created_at, run_at, finished_at, id, event_id, kind, target_id, seq, state, reason, click_id, campaign_id,
    person_id, org_id)
  select 0, $2::timestamptz, now(), case when t.state = 'skipped' then $2::timestamptz end, t.*${listed}
  from json_to_recordset($1) as t(id uuid, event_id uuid, kind text, target_id uuid, seq smallint, state text, reason text, click_id uuid,
    campaign_id uuid, person_id uuid${column})`
}
