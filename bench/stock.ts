// Millions of clicks for the bench, inserted by whole days, with counters folded by the server's own folder; and spend.
import type pg from 'pg'
import { pino } from 'pino'
import { DAY_MS, dayOf } from '../src/contract/days.ts'
import { toWireId } from '../src/contract/ids.ts'
import { mintClickId } from '../src/intake/clicks/click-id.ts'
import { ensurePartitions } from '../src/ground/db/partitions.ts'
import { openFolder } from '../src/reading/reports/fold.ts'
import type { BenchGround } from './ground.ts'
import { CAMPAIGNS, OFFERS, type Organization } from './organizations.ts'
import type { Conversion } from './requests.ts'

export const DAYS = 92
/** Rows of spend on those days. */
export const SPEND_ROWS = 10_000
/** Values of sub1 per campaign. */
const CREATIVES = 16
/** Two concurrent statements use two cores. */
const LANES = 2

// One day's clicks, drawn in the database: a few campaigns carry most of the traffic, each with its own countries and creatives.
const INSERT_DAY = `
  insert into clicks (org_id, id, campaign_id, offer_id, status, stages, tracked, test, revenue, geo, device, os, browser, ref_id,
    sub1, sub2, sub3, visitor_id, visitor_is_new, ip_hash, user_agent, suppressed_delivery, cost, cost_counts)
  select $1::int, id, ($4::uuid[])[campaign + 1], ($5::uuid[])[(campaign + case when pick < 0.7 then 0 else 5 end) % ${OFFERS} + 1],
    case when stages & 64 > 0 then 6 when stages & 32 > 0 then 5 when stages & 16 > 0 then 4 when stages & 8 > 0 then 3
      when stages & 4 > 0 then 2 when stages & 2 > 0 then 1 else 0 end,
    stages, pick > 0.03, false,
    nullif((stages >> 4 & 1) * 12.5 + (stages >> 5 & 1) * 40.25 + (stages >> 6 & 1) * 85, 0),
    (array['US','GB','DE','BR','MX','IN','ID','PH','VN','TH','PL','IT','ES','FR','CA','AU','ZA','NG','KE','TR'])
      [(campaign * 5 + floor(8 * draw * draw)::int) % 20 + 1],
    case when pick < 0.8 then 'mobile' else 'desktop' end, case when pick < 0.6 then 'Android' when pick < 0.8 then 'iOS' else 'Windows' end,
    case when pick < 0.6 then 'Mobile Chrome' when pick < 0.8 then 'Mobile Safari' else 'Chrome' end, hex,
    case when draw > 0.04 then 'creative-' || campaign * ${CREATIVES} + floor(${CREATIVES} * other)::int end, 'adset-' || campaign % 7, 'mobile_feed',
    hex::uuid, pick > 0.1, decode(hex || hex, 'hex'),
    'Mozilla/5.0 (Linux; Android 14; SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36', false,
    round((0.01 + 0.04 * draw)::numeric, 6), pick > 0.03
  from (
    select hex, floor(${CAMPAIGNS} * power(random(), 1.6))::int as campaign, random() as pick, random() as draw, random() as other,
      (lpad(to_hex(floor($2::bigint + (n - random()) * ($3::bigint - $2::bigint) / $6)::bigint), 12, '0') || '7' || substr(hex, 1, 3) || 'a'
        || substr(hex, 4, 15))::uuid as id,
      1 | case when random() < 0.55 then 2 else 0 end | case when reach < 0.12 then 4 else 0 end
        | case when reach < 0.08 then 8 else 0 end | case when reach < 0.04 then 16 else 0 end
        | case when reach < 0.015 then 32 else 0 end | case when reach < 0.01 then 64 else 0 end as stages
    from (select n, random() as reach, md5(random()::text || n) as hex from generate_series(1, $6::int) n) drawn
  ) click`

const rung = (bit: number) => `count(*) filter (where stages & ${bit} > 0)`
const INSERT_SHEETS = `
  insert into counter_sheet (org_id, id, changes)
  select org_id, gen_random_uuid(), array_agg(change) from (
    select org_id, row(org_id, $4::date, null, campaign_id, offer_id, geo, sub1, count(*),
      ${[2, 4, 8, 16, 32, 64].map(rung).join(', ')}, coalesce(sum(revenue), 0), coalesce(sum(cost) filter (where cost_counts), 0), 0, 0, 0, 0, 0)::report_change2 as change
    from (
      select org_id, campaign_id, offer_id, stages, revenue, cost, cost_counts, case when $5 then coalesce(geo, '') else '' end as geo,
        case when $5 then coalesce(sub1, '') else '' end as sub1
      from clicks where org_id = any($1::int[]) and id >= $2 and id < $3 and tracked
    ) c
    group by org_id, campaign_id, offer_id, geo, sub1
  ) cells group by org_id`

// Entered spend of a creative overrides the cost of its clicks.
const INSERT_SPEND = `
  insert into ad_spend (org_id, campaign_id, day, sub1, amount, source, updated_at)
  select $1::int, ($2::uuid[])[campaign + 1], $3::date + day, 'creative-' || campaign * ${CREATIVES} + creative, round((1 + 9 * random())::numeric, 2),
    'api', $4::timestamptz
  from generate_series(0, ${CREATIVES - 1}) creative, generate_series(0, ${DAYS - 1}) day, generate_series(0, ${CAMPAIGNS - 1}) campaign
  order by creative, day, campaign limit ${SPEND_ROWS}`

const dayStart = (ms: number) => ms - (ms % DAY_MS)
const idAt = (ms: number) =>
  `${ms
    .toString(16)
    .padStart(12, '0')
    .replace(/^(.{8})/, '$1-')}-0000-0000-000000000000`

/** Inserts `perDay` clicks with a cost on each of the last 92 days, today up to now, counts them, and enters spend for those days. */
export async function fillClicks(
  { database }: BenchGround,
  { org_id, campaigns, offers }: Organization,
  perDay: number,
  now: number,
): Promise<void> {
  const today = dayStart(now)
  const first = today - (DAYS - 1) * DAY_MS
  await ensurePartitions(database.schema, 'clicks', first, now)
  await eachDay(first, DAYS, async day => {
    const end = Math.min(day + DAY_MS, now)
    await database.worker.query(INSERT_DAY, [org_id, day, end, campaigns, offers, perDay])
    await countDay(database.worker, [org_id], day)
  })
  await database.worker.query(INSERT_SPEND, [org_id, campaigns, dayOf(first), new Date(now)])
}

/** Fills `count` days from `first`, by concurrent statements. */
export async function eachDay(first: number, count: number, fill: (day: number) => Promise<unknown>): Promise<void> {
  const days = Array.from({ length: count }, (_, day) => first + day * DAY_MS)
  const fillNext = async (): Promise<void> => {
    for (let day = days.shift(); day !== undefined; day = days.shift()) await fill(day)
  }
  await Promise.all(Array.from({ length: LANES }, fillNext))
}

/** Appends the counters of a day's clicks, as the previous version does. Without `details` they have neither country nor sub1, and so are few. */
export async function countDay(pool: pg.Pool, orgs: number[], day: number, { details = true } = {}): Promise<void> {
  const name = new Date(day).toISOString().slice(0, 10)
  await pool.query(INSERT_SHEETS, [orgs, idAt(day), idAt(day + DAY_MS), name, details])
}

const INSERT_MINTED = `
  insert into clicks (org_id, id, campaign_id, offer_id, status, stages, tracked, test, geo, device, os, browser, sub1, visitor_id,
    visitor_is_new, user_agent, suppressed_delivery)
  select t.org_id, t.id, t.campaign_id, t.offer_id, 0, 1, true, false, 'US', 'mobile', 'Android', 'Mobile Chrome', 'creative-1',
    t.visitor_id, true, 'Mozilla/5.0 (Linux; Android 14; SM-S911B)', false
  from unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[]) as t(org_id, id, campaign_id, offer_id, visitor_id)`

/**
 * Inserts fresh clicks of new visitors, made within the last day, each for one conversion with a charge. The
 * organizations alternate in the list, so that every part of it has all of them.
 */
export async function mintClicks(
  { database, secrets }: BenchGround,
  organizations: readonly Organization[],
  count: number,
  now: number,
): Promise<Conversion[]> {
  const day = dayStart(now)
  await ensurePartitions(database.schema, 'clicks', day, now)
  const list: Conversion[] = []
  for (let done = 0; done < count; done += 5000) {
    const rows = Array.from({ length: Math.min(5000, count - done) }, (_, at) => {
      const { org_id, key, campaigns, offers } = organizations[(done + at) % organizations.length] as Organization
      const id = mintClickId(secrets.clickKey, org_id, day + Math.floor(((now - day) * (done + at)) / count))
      list.push({ key, click: toWireId(id) })
      return [org_id, id, campaigns[0], offers[0], crypto.randomUUID()] as const
    })
    await database.worker.query(
      INSERT_MINTED,
      [0, 1, 2, 3, 4].map(column => rows.map(row => row[column])),
    )
  }
  await countDay(
    database.worker,
    organizations.map(({ org_id }) => org_id),
    day,
  )
  return list
}

/** Folds all counters with the server's own folder, and leaves the tables as after some quiet hours. */
export async function settleStock({ database }: BenchGround): Promise<void> {
  const folder = openFolder({ database, log: pino({ level: 'silent' }) })
  await folder.foldAll()
  await folder.close()
  const client = database.dedicated()
  await client.connect()
  await client.query('vacuum analyze')
  await client.query('checkpoint')
  await client.end()
}
