// The clicks for Explore's measurements, with dimensions as in real traffic: a few values have most clicks, and some values are unique.
// They are appended to sheets as intake does, and sealed day by day by the server's own sealing.
import { DAY_MS, dayOf } from '../src/contract/days.ts'
import { firstIdAt, newId } from '../src/contract/ids.ts'
import { ensurePartitions } from '../src/ground/db/partitions.ts'
import { rebuildDay } from '../src/reading/segments/check.ts'
import { mergeAll } from '../src/reading/segments/merge.ts'
import { sealAll, visitorHashOf } from '../src/reading/segments/seal.ts'
import type { BenchGround } from './ground.ts'
import type { Organization } from './organizations.ts'
import type { Plan } from './plan.ts'
import { type Ratio, ratiosOf } from './ratio.ts'
import { countDay, eachDay } from './stock.ts'
import { work, workText } from './yardsticks.ts'

export const EXPLORED = { campaigns: 60, offers: 180 } as const
const LANDINGS = 80

/** Most draws are small numbers; a larger `power` makes them smaller. */
const few = (count: number, power: number) => `floor(${count} * power(random(), ${power}))::int`

// $1 organization, $2 and $3 the first millisecond of the span and the one after its last, $4 to $6 campaigns, offers, landings, $7 number of clicks, $8 number of visitors.
const INSERT_DAY = `
  insert into clicks (org_id, id, campaign_id, offer_id, landing_id, click_flow_node_path, status, stages, tracked, test, revenue, geo, device, os,
    browser, platform, ref_id, sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9, visitor_id, visitor_is_new, ip_hash, user_agent, suppressed_delivery)
  select $1::int, id, ($4::uuid[])[campaign + 1], ($5::uuid[])[campaign * 3 + ${few(3, 1)} + 1], ($6::uuid[])[${few(LANDINGS, 2)} + 1],
    'v' || campaign % 4 || '>in>' || ${few(63, 2)}, case when stages & 64 > 0 then 6
      when stages & 32 > 0 then 5 when stages & 16 > 0 then 4 when stages & 4 > 0 then 2 when stages & 2 > 0 then 1 else 0 end,
    stages, pick > 0.04, false, case when stages & 16 > 0 then 12.5 + (stages >> 6 & 1) * 85 end,
    chr(65 + place / 26) || chr(65 + place % 26), case when pick < 0.8 then 'mobile' when pick < 0.95 then 'desktop' else 'tablet' end,
    (array['Android','iOS','Windows','macOS','Linux'])[${few(5, 2)} + 1], 'Browser ' || ${few(12, 2)},
    (array['meta','google','tiktok'])[${few(12, 1)} + 1], case when random() < 0.15 then hex end,
    'zone-' || ${few(80_000, 3)}, 'creative-' || ${few(480, 2)}, 'site-' || ${few(3000, 2)}, 'keyword ' || ${few(50_000, 2)},
    case when random() < 0.7 then reverse(hex) end, 'adset-' || ${few(240, 2)}, 'slot-' || ${few(12, 2)}, '0.0' || ${few(200, 2)},
    case when random() < 0.05 then 'test-' || ${few(20, 1)} end, md5(floor(random() * $8::int)::text)::uuid, pick > 0.3, decode(hex || hex, 'hex'),
    'Mozilla/5.0 (Linux; Android 14; SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36', false
  from (
    select hex, ${few(EXPLORED.campaigns, 1.6)} as campaign, ${few(150, 2)} as place, random() as pick,
      (lpad(to_hex(floor($2::bigint + (n - random()) * ($3::bigint - $2::bigint) / $7)::bigint), 12, '0') || '7' || substr(hex, 1, 3) || 'a'
        || substr(hex, 4, 15))::uuid as id,
      1 | case when reach < 0.62 then 2 else 0 end | case when reach < 0.11 then 4 else 0 end | case when reach < 0.035 then 16 else 0 end
        | case when reach < 0.012 then 32 else 0 end | case when reach < 0.008 then 64 else 0 end as stages
    from (select n, random() as reach, md5(random()::text || n) as hex from generate_series(1, $7::int) n) drawn
  ) click`

/** Clicks per transaction, as intake under load has. */
const BATCH = 500
const batched = (where: string) => `
  from (select *, row_number() over (order by id) / ${BATCH} as batch from clicks where org_id = $1 and id >= $2 and id < $3 ${where}) c group by batch`
const TELL_BORN = `
  insert into click_sheet (org_id, id, born, born_otherwise)
  select $1::int, gen_random_uuid(), array_agg(id) filter (where tracked), array_agg(row(id, false, null)::click_born) filter (where not tracked)
  ${batched('')}`
const TELL_CHANGES = `
  insert into click_sheet (org_id, id, changes)
  select $1::int, gen_random_uuid(), array_agg(row(id, 1, stages, tracked, tracked, null, null, null, revenue,
    null, null, null, null, null, null, null, null, null, null)::click_change)
  ${batched('and stages > 1')}`

/** The most booked spend amounts: half for a campaign's whole day, half for a zone of its day. */
const BOOKED_CELLS = 10_000

// $1 organization, $2 campaigns, $3 the first day, $4 number of days, $5 the most amounts.
const BOOK_SPEND = `
  insert into ad_spend (org_id, campaign_id, day, sub1, amount, source, updated_at)
  (select $1::int, ($2::uuid[])[campaign], $3::date + day, '', round((1 + 99 * random())::numeric, 2), 'api', now()
   from generate_series(0, $4::int - 1) day, generate_series(1, cardinality($2::uuid[])) campaign
   order by day, campaign limit $5::int / 2)
  union all
  (select $1::int, ($2::uuid[])[campaign], $3::date + day, 'zone-' || zone, round((1 + 9 * random())::numeric, 2), 'api', now()
   from generate_series(0, $4::int - 1) day, generate_series(1, cardinality($2::uuid[])) campaign, generate_series(0, 9) zone
   order by zone, day, campaign limit $5::int / 2)`

/** The cost of sealing, in wall time and this process's processor time, and the time for merging the segments afterwards. */
export type Sealed = {
  readonly clicks: number
  readonly days: number
  readonly booked: number
  readonly wall_ms: number
  readonly cpu_ms: number
  readonly merging_ms: number
  /** To rebuild the segments of the last day from its clicks. */
  readonly rebuilding_ms: number
  /** For each day, the milliseconds per thousand clicks compared with those of the fixed piece of work. */
  readonly ratio: Ratio
  readonly yardstick: string
}

/**
 * Spreads clicks over the `days` before the last midnight, counts them, seals them a day at a time, books spend for them, and merges the segments. The
 * counters have neither country nor sub1: Explore compares only days with them, and folding nearly unique cells takes longer than everything else here.
 */
export async function fillExplored(
  { database, secrets }: BenchGround,
  { org_id, campaigns, offers }: Organization,
  { clicks, exploredDays: days }: Pick<Plan, 'clicks' | 'exploredDays'>,
  now: number,
): Promise<Sealed> {
  const end = now - (now % DAY_MS)
  const first = end - days * DAY_MS
  await ensurePartitions(database.schema, 'clicks', first, now)
  const landings = Array.from({ length: LANDINGS }, () => newId())
  const perDay = Math.max(1, Math.round(clicks / days))
  const pool = database.worker
  let [wall_ms, cpu_ms] = [0, 0]
  const days_us: number[] = []
  const yardstick: number[] = []
  await eachDay(first, days, async day => {
    await pool.query(INSERT_DAY, [org_id, day, day + DAY_MS, campaigns, offers, landings, perDay, clicks])
    await countDay(pool, [org_id], day, { details: false })
  })
  for (let day = first; day < end; day += DAY_MS) {
    const stretch = [org_id, firstIdAt(day), firstIdAt(day + DAY_MS)]
    await pool.query(TELL_BORN, stretch)
    await pool.query(TELL_CHANGES, stretch)
    yardstick.push(work())
    const [started, before] = [performance.now(), process.cpuUsage()]
    await sealAll(pool, secrets)
    const spent = process.cpuUsage(before)
    const took = performance.now() - started
    wall_ms += took
    days_us.push((took * 1000) / perDay)
    cpu_ms += (spent.user + spent.system) / 1000
  }
  const { rowCount } = await pool.query(BOOK_SPEND, [
    org_id,
    campaigns,
    new Date(first).toISOString().slice(0, 10),
    days,
    BOOKED_CELLS,
  ])
  const started = performance.now()
  await mergeAll(pool)
  const merging_ms = performance.now() - started
  const rebuilding = performance.now()
  if (!(await rebuildDay(pool, org_id, dayOf(end - DAY_MS), visitorHashOf(secrets, org_id))))
    throw new Error('the last day was not rebuilt')
  return {
    clicks: perDay * days,
    days,
    booked: rowCount ?? 0,
    wall_ms,
    cpu_ms,
    merging_ms,
    rebuilding_ms: performance.now() - rebuilding,
    ratio: ratiosOf(days_us, yardstick),
    yardstick: workText(yardstick),
  }
}
