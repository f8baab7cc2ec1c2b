/**
 * Gives each click of a local copy its cost: its own, or its equal share of the booked amounts that replace its own. The cost is a column of the copy,
 * so that no question joins amounts. After a change only the cells that it affects are priced anew. A cell is a campaign's UTC day: an amount
 * and the clicks that share it are always in the same cell.
 *
 * Shares are trillionths of a dollar, rounded down. The remainder of an amount goes to one of its clicks, so that shares add up to the amount exactly.
 * It goes to a click that no row with the opposite sign cancels, because every question that counts the click must also count the remainder.
 */
import type pg from 'pg'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { type TextColumn, TEXTS } from '../segments/facts.ts'
import { dayNumber, quoted } from './columns.ts'
import type { Ask } from './engine.ts'
import { readSpend, type SpendMarks } from './spend.ts'
import { learnWords, type WordLimits, withNumbers } from './words.ts'

export type PricingLimits = {
  /** About how many rows are priced in one turn, which limits its time and memory. */
  readonly priced_at_once: number
}
export const PRICING_LIMITS: PricingLimits = { priced_at_once: 60_000 }
const MILLIONTHS = 1_000_000
/** The largest share of a click, in trillionths: two of them fit into the column. What is above four million dollars per click is spend without clicks. */
const MOST_SHARED = '4000000000000000000::hugeint'

/** The columns by which a question may tell clicks apart: rows equal in all of them are in the same group of every question. */
const IDENTITY = ['ms', 'visitor', 'is_new', 'stages', ...TEXTS].join(', ')

/**
 * The statements that create the tables of spend in a new copy. `spend` has the booked amounts, as `readSpend` returns them; `spend_days` has the mark of
 * each of their days. `unsettled` has the cells whose clicks must be priced again. `unclicked` has the amounts that no clicks share.
 */
export const spendTables = (copy: string): string =>
  `create table ${copy}.spend (d integer, campaign varchar, sub1 varchar, is_assigned boolean, of_all hugeint, of_sub1 hugeint);
    create table ${copy}.spend_days (d integer, mark varchar);
    create table ${copy}.unsettled (d integer, campaign varchar);
    create table ${copy}.unclicked (d integer, campaign varchar, sub1 varchar, has_sub1 boolean, cost bigint)`

/** The marks of the spend in the copy, by day since 1970. */
export type CopyMarks = Map<number, string>

export async function marksIn(ask: Ask, copy: string): Promise<CopyMarks> {
  const rows = await ask(`select d, mark from ${copy}.spend_days`)
  return new Map(rows.map(({ d, mark }) => [Number(d), String(mark)]))
}

/** Marks cells of `from` (columns `d` and `campaign`), whose rows are added or removed, as to be priced, if they have booked spend. */
export const unsettle = (ask: Ask, copy: string, from: string) =>
  ask(
    `insert into ${copy}.unsettled select distinct d, campaign from ${from} semi join ${copy}.spend using (d, campaign)`,
  )

/** A copy: its name, the columns whose texts are stored as numbers (words.ts), and the marks of its spend. */
type PricedCopy = { readonly name: string; readonly numbered: Set<TextColumn>; readonly marks: CopyMarks }
/** From day `first` to day `last` (since 1970) the facts are complete. `tail`: a table of facts that are not in the copy, if there are any. */
type PricedDays = {
  readonly reads: Pick<pg.Pool, 'query'>
  readonly org_id: number
  readonly spend: SpendMarks
  readonly first: number
  readonly last: number
  readonly tail: string | undefined
}

type Unclicked = { readonly unclicked: string | undefined }

/**
 * Brings the cost of the clicks of some days up to date with the booked spend. Returns the SQL of the amounts that no clicks share,
 * with their texts as numbers; undefined if there are none. Returns 'more' if so much must be priced that it must be called again.
 * Updates `copied.marks`.
 */
export async function priceClicks(
  ask: Ask,
  copied: PricedCopy,
  asked: PricedDays & WordLimits & PricingLimits,
): Promise<Unclicked | 'more'> {
  const { name: copy, marks, numbered } = copied
  const { spend, first, last, tail, most_words, priced_at_once } = asked
  const wanted = new Map([...spend].map(([day, mark]) => [dayNumber(day), mark]))
  const known = [...marks.keys()].filter(d => d >= first && d <= last)
  const changed = [...new Set([...wanted.keys(), ...known])].filter(d => wanted.get(d) !== marks.get(d))
  if (changed.length > 0) await learnSpend(ask, copied, asked, changed)
  if (marks.size === 0 && changed.length === 0) return { unclicked: undefined }
  const within = `d between ${first} and ${last}`
  // The cells with unsealed facts (`is_moving`) are priced by every question, because these facts differ each time. So is a cell that has lost its
  // spend, because its unsealed facts have the shares of it.
  const moving =
    tail === undefined
      ? NO_CELLS
      : `select distinct d, campaign from ${tail} where ${within}
          and (d, campaign) in (select (d, campaign) from ${copy}.spend union all select (d, campaign) from ${copy}.unsettled)`
  // Whole cells, because the clicks of a cell share its amounts.
  await ask(`create or replace temp table portions as
    with moving as materialized (${moving})
    select d, campaign, is_moving, (sum(n) over (partition by is_moving order by d, campaign) - n) // ${priced_at_once} as portion from (
      select d, campaign, is_moving, count(f.s) as n from (
        select d, campaign, true as is_moving from moving
        union all
        (select distinct d, campaign, false from ${copy}.unsettled anti join moving using (d, campaign) where ${within})
      ) left join ${copy}.facts f using (d, campaign) group by all
    )`)
  const portions = await ask('select distinct is_moving, portion from portions order by is_moving, portion')
  const unclicked = `(select d, ${DAY_MS / 2} as ms, campaign, sub1, has_sub1, cost from ${copy}.unclicked)`
  for (const [at, { is_moving, portion }] of portions.entries()) {
    await ask('begin')
    await ask(
      `create or replace temp table stale as select d, campaign from portions where is_moving = ${is_moving} and portion = ${portion}`,
    )
    await priceStaleCells(ask, copy, is_moving === true ? tail : undefined)
    await learnWords(ask, copy, unclicked, { numbered, most_words }, WORDS_OF_SPEND)
    await ask('commit')
    if (portions[at + 1]?.['is_moving'] === false) return 'more'
  }
  const [row] = await ask(`select count(*) as n from ${copy}.unclicked where ${within}`)
  return {
    unclicked: Number(row?.['n']) === 0 ? undefined : withNumbers(copy, unclicked, numbered, WORDS_OF_SPEND),
  }
}
const NO_CELLS = 'select null::integer as d, null::varchar as campaign where false'
const WORDS_OF_SPEND = ['campaign', 'sub1'] as const

/** Copies the booked spend of these days, and marks the cells that it changes. */
async function learnSpend(
  ask: Ask,
  { name: copy, marks }: PricedCopy,
  { reads, org_id }: Pick<PricedDays, 'reads' | 'org_id'>,
  changed: readonly number[],
): Promise<void> {
  const spendRead = await readSpend(
    reads,
    org_id,
    changed.map(d => dayOf(d * DAY_MS)),
  )
  const onDays = `d in (${changed.join(', ')})`
  const columns = 'd, campaign, sub1, is_assigned, of_all, of_sub1'
  const form =
    '[{"d":"INTEGER","campaign":"VARCHAR","sub1":"VARCHAR","is_assigned":"BOOLEAN","of_all":"HUGEINT","of_sub1":"HUGEINT"}]'
  const added = [...spendRead.marks].map(([day, mark]) => ({ d: dayNumber(day), mark }))
  await ask('begin')
  await ask(
    `create or replace temp table booked as select unnest(from_json(${quoted(spendRead.cells)}, '${form}'), recursive := true)`,
  )
  await ask(`insert into ${copy}.unsettled select distinct d, campaign from (
    (select ${columns} from booked except all select ${columns} from ${copy}.spend where ${onDays})
    union all
    (select ${columns} from ${copy}.spend where ${onDays} except all select ${columns} from booked)
  )`)
  await ask(`delete from ${copy}.spend where ${onDays}`)
  await ask(`insert into ${copy}.spend select ${columns} from booked`)
  await ask(`delete from ${copy}.spend_days where ${onDays}`)
  if (added.length > 0)
    await ask(
      `insert into ${copy}.spend_days values ${added.map(({ d, mark }) => `(${d}, ${quoted(mark)})`).join(', ')}`,
    )
  await ask('commit')
  for (const d of changed) marks.delete(d)
  for (const { d, mark } of added) marks.set(d, mark)
}

/** Prices the cells in the table `stale`, in the caller's transaction. `tail`: the table of facts that are not in the copy, if the cells have any. */
async function priceStaleCells(ask: Ask, copy: string, tail: string | undefined): Promise<void> {
  const days = await ask('select distinct d from stale order by d')
  const onDays = `d in (${days.map(({ d }) => d).join(', ')})`
  const sources = [`${copy}.facts`, ...(tail === undefined ? [] : [tail])]
  const rows = (columns: string) =>
    sources
      .map((from, at) => `select ${at} as source, rowid as id, ${columns} from ${from} where ${onDays}`)
      .join(' union all ')
  await ask(`create or replace temp table counted as
    select d, campaign, sub1, sum(sign) as clicks from (${rows('d, campaign, sub1, sign')}) semi join stale using (d, campaign) group by all`)
  await ask(`create or replace temp table days as select d, campaign, sum(clicks) as clicks from counted group by all`)
  await ask(`create or replace temp table prices as ${pricesOf(copy)}`)
  for (const from of sources) await ask(updateOf(from, onDays))
  await addRemainders(ask, sources, rows)
  await ask(`delete from ${copy}.unclicked u using stale where u.d = stale.d and u.campaign = stale.campaign`)
  await ask(`insert into ${copy}.unclicked ${unclickedOf(copy)}`)
  await ask(`delete from ${copy}.unsettled u using stale where u.d = stale.d and u.campaign = stale.campaign`)
  // Without the unsealed facts their shares are wrong.
  if (tail !== undefined) await ask(`insert into ${copy}.unsettled from stale`)
}

/** By sub1, the cost of each click and the remainder. The remainder of an amount for the whole day goes to the sub1 with the fewest clicks. */
const pricesOf = (copy: string) => `
  select d, campaign, sub1, is_covered, is_assigned, of_all, of_sub1,
    rest_of_sub1, rest_of_sub1 + case when is_first then rest_of_all else 0 end as rest
  from (
    select c.d, c.campaign, c.sub1, w.d is not null or r.d is not null as is_covered,
      coalesce(w.is_assigned, false) or coalesce(r.is_assigned, false) as is_assigned,
      ${shareOf('w.of_all', 'days.clicks')} as of_all, ${restOf('w.of_all', 'days.clicks')} as rest_of_all,
      ${shareOf(OF_CELL, 'c.clicks')} as of_sub1, ${restOf(OF_CELL, 'c.clicks')} as rest_of_sub1,
      c.clicks > 0 and row_number() over (partition by c.d, c.campaign order by c.clicks <= 0, c.clicks, c.sub1) = 1 as is_first
    from counted c join days using (d, campaign)
    left join ${copy}.spend w on w.d = c.d and w.campaign = c.campaign and w.sub1 = ''
    left join ${copy}.spend r on r.d = c.d and r.campaign = c.campaign and r.sub1 = c.sub1
  )`
const OF_CELL = 'case when c.sub1 is null then w.of_sub1 else r.of_sub1 end'
const shareOf = (amount: string, clicks: string) =>
  `case when ${clicks} > 0 then least(coalesce(${amount}, 0) * ${MILLIONTHS} // ${clicks}, ${MOST_SHARED}) else 0 end`
const restOf = (amount: string, clicks: string) =>
  `case when ${clicks} > 0 then coalesce(${amount}, 0) * ${MILLIONTHS} % ${clicks} else 0 end`

const updateOf = (from: string, onDays: string) => `
  update ${from} f set
    cost = case when p.is_covered then f.sign * (p.of_all + p.of_sub1) else coalesce(f.own_cost, 0) end,
    cost_apart = case when p.is_covered then f.sign * p.of_sub1 else coalesce(f.own_cost, 0) end,
    without_cost = case when p.is_covered or f.own_cost is not null then 0 else f.sign end,
    without_cost_apart = case when p.is_assigned or (not p.is_covered and f.own_cost is not null) then 0 else f.sign end
  from prices p where f.${onDays} and p.d = f.d and p.campaign = f.campaign and p.sub1 is not distinct from f.sub1`

/** Adds each remainder to one click: in the first millisecond that has clicks, one that no row with the opposite sign cancels. */
async function addRemainders(ask: Ask, sources: readonly string[], rows: (columns: string) => string): Promise<void> {
  const cell = 'd, campaign, sub1'
  const sameCell = 'r.d = f.d and r.campaign = f.campaign and r.sub1 is not distinct from f.sub1'
  await ask(`create or replace temp table firsts as
    select ${cell}, min(ms) as ms, any_value(rest) as rest, any_value(rest_of_sub1) as rest_of_sub1 from (
      select f.d, f.campaign, f.sub1, f.ms, any_value(rest) as rest, any_value(rest_of_sub1) as rest_of_sub1
      from (${rows(`${cell}, ms, sign`)}) f join prices r on ${sameCell} and r.rest > 0 group by all having sum(f.sign) > 0
    ) group by all`)
  await ask(`create or replace temp table payers as
    select place.source, place.id, rest, rest_of_sub1 from (
      select min(place) as place, any_value(rest) as rest, any_value(rest_of_sub1) as rest_of_sub1 from (
        select r.d, r.campaign, r.sub1, any_value(r.rest) as rest, any_value(r.rest_of_sub1) as rest_of_sub1,
          min({source: f.source, id: f.id}) filter (where f.sign = 1) as place
        from (${rows(`d, sign, ${IDENTITY}`)}) f join firsts r on ${sameCell} and r.ms = f.ms
        group by r.d, r.campaign, r.sub1, ${IDENTITY.replaceAll(/\w+/g, 'f.$&')} having sum(f.sign) > 0
      ) group by ${cell}
    )`)
  for (const [source, from] of sources.entries())
    await ask(`update ${from} f set cost = f.cost + p.rest, cost_apart = f.cost_apart + p.rest_of_sub1
      from payers p where p.source = ${source} and f.rowid = p.id`)
}

/** The amounts of stale cells, or parts of them, that no clicks share. A row has at most `MOST_SHARED` of an amount. */
const unclickedOf = (copy: string) => `
  select d, campaign, sub1, has_sub1, least(cost - part * ${MOST_SHARED}, ${MOST_SHARED})
  from (
    select *, unnest(range((cost // ${MOST_SHARED})::bigint + 1)) as part from (
      select s.d, s.campaign, null as sub1, false as has_sub1, ${unsharedOf('s.of_all', 'days.clicks')} as cost
      from ${copy}.spend s semi join stale using (d, campaign) left join days using (d, campaign)
      union all
      select s.d, s.campaign, nullif(s.sub1, ''), true, ${unsharedOf('s.of_sub1', 'c.clicks')}
      from ${copy}.spend s semi join stale using (d, campaign)
        left join counted c on c.d = s.d and c.campaign = s.campaign and c.sub1 is not distinct from nullif(s.sub1, '')
    )
  ) where cost > part * ${MOST_SHARED}`
const unsharedOf = (amount: string, clicks: string) =>
  `case when coalesce(${clicks}, 0) <= 0 then ${amount} * ${MILLIONTHS}
    else greatest(${amount} * ${MILLIONTHS} // ${clicks} - ${MOST_SHARED}, 0) * ${clicks} end`
