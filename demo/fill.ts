// Inserts traffic and books in the caller's transaction, so that the demo is complete or not there at all.
import { CompiledQuery, sql, type Transaction } from 'kysely'
import { DAY_MS, dayOf } from '../src/contract/days.ts'
import { newId } from '../src/contract/ids.ts'
import { highestRung, rungsGained } from '../src/contract/ladder.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import { CLICK_COLUMNS, clicksLiteral, NEW_CLICKS } from '../src/intake/clicks/click.ts'
import { type Costs, type Counts, cellOf, costsOf, DeltaSheet, type Verdicts } from '../src/intake/counters/deltas.ts'
import { fromMillionths } from '../src/money/billing/money.ts'
import type { Books } from './books.ts'
import { chanceOf } from './chance.ts'
import { type Outbox, TRY_MS } from './outbox.ts'
import { toldFrom } from './spend-account.ts'
import type { DemoClick, Place } from './traffic.ts'
import type { DemoCampaign } from './world.ts'

type Trx = Transaction<Tables>

/** Rows per statement: enough to be fast, few enough for the statement timeout. */
const PORTION = 4000

async function inPortions<T>(rows: readonly T[], write: (portion: readonly T[]) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < rows.length; from += PORTION) await write(rows.slice(from, from + PORTION))
}

const columns = sql.raw(CLICK_COLUMNS.join(', '))

/** Inserts clicks in their final state, and their counters. */
export async function insertClicks(trx: Trx, clicks: readonly DemoClick[]): Promise<void> {
  await inPortions(clicks, portion =>
    sql`
      insert into clicks (${columns}, status, stages, revenue, approved, pending,
        rejected, revenue_pending)
      select * from unnest(${clicksLiteral(portion)}::${sql.raw(NEW_CLICKS)}, ${portion.map(({ stages }) => highestRung(stages))}::smallint[],
        ${portion.map(({ stages }) => stages)}::smallint[], ${portion.map(revenueOf)}::numeric[],
        ${portion.map(of => standingOf(of)?.approved ?? null)}::smallint[], ${portion.map(of => standingOf(of)?.pending ?? null)}::smallint[],
        ${portion.map(of => standingOf(of)?.rejected ?? null)}::smallint[], ${portion.map(of => standingOf(of)?.revenue_pending ?? null)}::numeric[])`.execute(
      trx,
    ),
  )
  const sheet = new DeltaSheet()
  for (const click of clicks) {
    if (!click.tracked) continue
    sheet.add(click.org_id, cellOf(click), changeOf(click))
  }
  const deltas = sheet.statement()
  if (deltas !== undefined) await trx.executeQuery(CompiledQuery.raw(deltas.text, [...(deltas.values ?? [])]))
}

const revenueOf = ({ revenue }: DemoClick): string | null => (revenue === 0n ? null : fromMillionths(revenue))

/** The statuses of its conversions; null if none was ever worth something. */
function standingOf({ standing: { held, ...counts } }: DemoClick): Verdicts | null {
  const isNone = counts.approved + counts.pending + counts.rejected === 0
  return isNone ? null : { ...counts, revenue_pending: fromMillionths(held) }
}

function changeOf(click: DemoClick): Partial<Counts & Costs & Verdicts> {
  const { stages, revenue } = click
  const counts = rungsGained(0, stages).map(rung => [rung === 'clicked' ? 'clicks' : rung, 1] as const)
  return { ...Object.fromEntries(counts), revenue: fromMillionths(revenue), ...costsOf(click), ...standingOf(click) }
}

/** Inserts events, with their persons and charges. */
export async function insertBooks(trx: Trx, org_id: number, books: Books): Promise<void> {
  await inPortions(books.persons, rows =>
    trx
      .insertInto('persons')
      .values(rows.map(({ ms, ...person }) => ({ org_id, ...person, created_at: iso(ms) })))
      .execute(),
  )
  await inPortions(books.personKeys, rows =>
    trx
      .insertInto('person_keys')
      .values(rows.map(row => ({ org_id, ...row })))
      .execute(),
  )
  await inPortions(books.events, rows =>
    trx
      .insertInto('events')
      .values(
        rows.map(({ ms, payload, money: _, ...event }) => ({
          org_id,
          ...event,
          payload: JSON.stringify(payload),
          created_at: iso(ms),
        })),
      )
      .execute(),
  )
  const paid = books.events.flatMap(({ id, money }) => (money === null ? [] : [{ org_id, event_id: id, ...money }]))
  await inPortions(paid, rows =>
    trx
      .insertInto('event_money')
      .values([...rows])
      .execute(),
  )
  await inPortions(books.revisions, rows =>
    trx
      .insertInto('event_revisions')
      .values(rows.map(({ ms, ...revision }) => ({ org_id, ...revision, source: 'network', created_at: iso(ms) })))
      .execute(),
  )
  await inPortions(books.aliases, rows =>
    trx
      .insertInto('event_aliases')
      .values(rows.map(({ ms, ...alias }) => ({ org_id, ...alias, created_at: iso(ms) })))
      .execute(),
  )
  await inPortions(books.ledger, rows =>
    trx
      .insertInto('ledger')
      .values(rows.map(({ ms, ...entry }) => ({ org_id, id: newId(ms), ...entry, created_at: iso(ms) })))
      .execute(),
  )
  await trx.updateTable('balances').set({ balance: books.balance }).where('org_id', '=', org_id).execute()
}

/** Inserts deliveries with their attempts. */
export async function insertDeliveries(trx: Trx, org_id: number, outbox: Outbox): Promise<void> {
  await inPortions(outbox.deliveries, rows =>
    trx
      .insertInto('deliveries')
      .values(
        rows.map(({ ms, finished, ...delivery }) => ({
          org_id,
          ...delivery,
          run_at: iso(ms),
          created_at: iso(ms),
          finished_at: iso(finished),
        })),
      )
      .execute(),
  )
  await inPortions(outbox.attempts, rows =>
    trx
      .insertInto('delivery_attempts')
      .values(
        rows.map(({ ms, ...attempt }) => ({
          org_id,
          ...attempt,
          started_at: iso(ms),
          finished_at: iso(ms + TRY_MS),
        })),
      )
      .execute(),
  )
}

/** Inserts spend per campaign and day, and per sub1 if the source reports it. */
export async function insertSpend(
  trx: Trx,
  org_id: number,
  seed: string,
  places: readonly Place[],
  clicks: readonly DemoClick[],
  now: number,
): Promise<void> {
  const campaigns = new Map(places.map(({ campaign, campaign_id }) => [campaign_id, campaign]))
  const spent = new Map<string, { campaign_id: string; day: string; sub1: string; clicks: number }>()
  for (const { campaign_id, ms, sub1 } of clicks) {
    const campaign = campaigns.get(campaign_id ?? '')
    if (campaign === undefined || campaign_id === null || isKnownOtherwise(campaign)) continue
    if (campaign.readFromAccount && ms >= toldFrom(now)) continue
    const part = campaign.splitSpend ? (sub1 ?? '') : ''
    const key = `${campaign_id} ${dayOf(ms)} ${part}`
    const known = spent.get(key) ?? { campaign_id, day: dayOf(ms), sub1: part, clicks: 0 }
    known.clicks += 1
    spent.set(key, known)
  }
  const rows = [...spent.values()].map(({ clicks, ...row }) => {
    const campaign = campaigns.get(row.campaign_id)
    const chance = chanceOf(seed, 'spend', campaign?.key ?? '', row.day, row.sub1)
    const amount = (clicks * (campaign?.cost_per_click ?? 0) * (0.9 + chance() * 0.2)).toFixed(2)
    return { org_id, ...row, amount, source: 'manual', updated_at: iso(Math.min(Date.parse(row.day) + DAY_MS, now)) }
  })
  await inPortions(rows, portion =>
    trx
      .insertInto('ad_spend')
      .values([...portion])
      .execute(),
  )
}

/** Whether the cost comes from each link or from weekly bills. */
const isKnownOtherwise = ({ dearZones, billedIn }: DemoCampaign) => dearZones !== undefined || billedIn !== undefined

const iso = (ms: number): string => new Date(ms).toISOString()
