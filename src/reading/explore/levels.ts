/**
 * Answers a question level by level. Each level has, below each row kept on the level above, the first groups in the order of its sort. `other` needs
 * no scan: it is the row above minus the groups that were kept.
 */
import type { ExploreSort } from '../../contract/explore.ts'
import { UNIQUE_VISITORS } from '../../contract/explore-measures.ts'
import type { Ask, ScanRow } from './engine.ts'
import type { ParsedLevel, ParsedQuestion } from './question.ts'
import { openGrounds, type ComparedSums, groundBelow, type LevelGround } from './grounds.ts'
import { isInGroup, isOfTags } from './rows.ts'
import { type LocalFacts, keyName, ROOT, unknownIn } from './scan.ts'
import { haveCost, madeIn, named, orderOf, type Sum, type Sums, summed, sumsIn, sumsOfQuestion } from './sums.ts'
import { eachTag } from './tagged.ts'
import { countVisitors, type VisitorLimits, visitorsOfLevel } from './visitors.ts'
import type { WideLimits } from './wide.ts'

/** A group of a level, below the row `parent` of the level above, with its value in the level's dimension. */
export type Group = {
  readonly id: number
  readonly parent: number
  readonly value: ScanRow[string]
  /** Whether it is the group of spend whose value in this dimension is unknown. */
  readonly isSpend: boolean
  readonly sums: Sums
  readonly before: Sums | undefined
}
/** `other` of a parent row: `keys` is the number of groups that it sums up. */
type Rest = { readonly keys: number; readonly sums: Sums; readonly before: Sums | undefined }

type FoundLevel = {
  readonly groups: ReadonlyMap<number, readonly Group[]>
  readonly rest: ReadonlyMap<number, Rest>
  /** The number of groups below all rows that were opened. */
  readonly distinct: number
}

export type FoundLevels = {
  readonly totals: ComparedSums
  /** The sums without the filters on figures; undefined if the question has none. */
  readonly whole: ComparedSums | undefined
  readonly levels: readonly FoundLevel[]
  readonly is_estimate: boolean
}

/** A level below one without rows, or beyond the most rows of an answer. */
const NOTHING_FOUND: FoundLevel = { groups: new Map(), rest: new Map(), distinct: 0 }

/** Answers all levels of the question, or with `within` only the one below the opened row. At most `most` rows. Refuses `question_too_wide`. */
export async function askLevels(
  ask: Ask,
  facts: LocalFacts,
  question: ParsedQuestion,
  most: number,
  limits: WideLimits & VisitorLimits,
): Promise<FoundLevels> {
  const sums = sumsOfQuestion(question)
  const first = question.within?.length ?? 0
  const end = question.within === undefined ? question.levels.length : first + 1
  const askedLevels = question.levels
    .slice(first, end)
    .map(({ dimension }, place) => ({ dimension, at: first + place }))
  const { every, whole, ...grounds } = await openGrounds({ ask, facts, question, sums, levels: askedLevels }, limits)
  let { ground, past } = grounds
  const totals: ComparedSums = { sums: ground.totals, before: past?.totals }
  const levels: FoundLevel[] = []
  let parents: ReadonlyMap<number, ComparedSums> = new Map([[ROOT, totals]])
  let left = most
  for (let at = first; at < end; at += 1) {
    if (parents.size === 0 || left <= 0) {
      levels.push(NOTHING_FOUND)
      continue
    }
    const foundLevel = await askLevel(ground, past, at, parents, left, limits)
    levels.push(foundLevel)
    const groups = [...foundLevel.groups.values()].flat()
    parents = new Map(groups.map(group => [group.id, group]))
    left -= groups.length
    if (at + 1 === end || left <= 0) continue
    const before = groups.flatMap(group => group.before ?? [])
    ground = await groundBelow(
      ground,
      at,
      groups.map(({ sums }) => sums),
    )
    past = past && (await groundBelow(past, at, before))
  }
  return { totals, whole, levels, is_estimate: every > 1 && question.measures.includes(UNIQUE_VISITORS) }
}

/** Finds the groups of a level, keeps the first of each parent row as the table `l<at>`, and returns them. */
async function askLevel(
  ground: LevelGround,
  past: LevelGround | undefined,
  at: number,
  parents: ReadonlyMap<number, ComparedSums>,
  most: number,
  { exact_visitors }: VisitorLimits,
): Promise<FoundLevel> {
  const { ask, question, sums } = ground.asking
  const level = question.levels[at] as ParsedLevel
  const until = question.after + level.top
  // A level cannot be sorted by visitors that are not counted.
  const isUnsorted = level.sort.by === UNIQUE_VISITORS && ground.visitors === undefined
  const sort: ExploreSort = isUnsorted ? { ...level.sort, by: 'clicks' } : level.sort
  await ask(`create temp table g${at} as ${groupsOf(ground, at, sort)}`)
  // Parents are opened in the order of the answer until it is full, each completely or not at all.
  await ask(`create temp table l${at} as
    with opened as (
      select p, n from (
        select p, count(*) filter (where not is_spend) as n, 
          sum(least(count(*) filter (where not is_spend), ${until})) over (order by p) as so_far from g${at} group by p
      ) where so_far <= ${most + question.after}
    )
    select row_number() over (order by p, rn) as id, * from (${firstGroupsOf(at, sort, { until, isOne: parents.size === 1, count_pending: question.count_pending })}) join opened using (p)`)
  const rows = await ask(
    `select id, p, n, rn, word, (select count(*) from g${at} where not is_spend) as distinct_keys, ${sums.join(', ')} from l${at} order by id`,
  )
  const isWhole = rows.every(row => Number(row['n']) <= until)
  const how = { isWhole, exact_visitors }
  const [own, others] = await visitorsOfLevel(ground.asking, ground.visitors, at, how)
  const before = past && (await sumsBefore(past, at, how))
  const all = rows.map((row): Group & { n: number; rn: number } => {
    const id = Number(row['id'])
    return {
      id,
      parent: Number(row['p']),
      n: Number(row['n']),
      rn: Number(row['rn']),
      value: row['word'] ?? null,
      isSpend: Number(row['rn']) === SPEND_PLACE,
      sums: { ...sumsIn(row, sums), ...own(id) },
      before: before?.groups(id),
    }
  })
  const groups = Map.groupBy(all, ({ parent }) => parent)
  const restOfTags = isOfTags(ground.asking.levels, at) ? await restsOfTags(ground, past, at) : undefined
  const rest = new Map<number, Rest>()
  for (const [parent, inside] of groups) {
    const above = parents.get(parent)
    const keys = (inside[0]?.n ?? 0) - until
    if (above === undefined || keys <= 0) continue
    const left = restOfTags?.(parent) ?? leftOf(above, inside, sums)
    const beforeLeft = left.before && { ...left.before, ...before?.others(parent) }
    rest.set(parent, { keys, sums: { ...left.sums, ...others(parent) }, before: beforeLeft })
  }
  const visible = new Map([...groups].map(([parent, inside]) => [parent, shownOf(inside, question.after)] as const))
  return { groups: visible, rest, distinct: Number(rows[0]?.['distinct_keys'] ?? 0) }
}

/** The groups without the first `after` ones. On the first page, the row of spend with an unknown value comes last. */
function shownOf<T extends { readonly rn: number }>(inside: readonly T[], after: number): T[] {
  const spend = after === 0 ? inside.filter(({ rn }) => rn === SPEND_PLACE) : []
  return [...inside.filter(({ rn }) => rn !== SPEND_PLACE && rn > after), ...spend]
}

/** The sums of a row less those of its groups. */
function leftOf(above: ComparedSums, inside: readonly Group[], sums: readonly Sum[]): ComparedSums {
  const now = inside.map(group => group.sums)
  const then = inside.flatMap(group => group.before ?? [])
  return { sums: without(above.sums, now, sums), before: above.before && without(above.before, then, sums) }
}

/** SQL of a level's groups with their sums: `k` is the key or its number, `word` the key itself. */
function groupsOf({ asking, rows, visitors }: LevelGround, at: number, sort: ExploreSort): string {
  const { sums, facts, question } = asking
  const k = keyName(at)
  const columns = madeIn(sums)
  const { dimension } = question.levels[at] as ParsedLevel
  const isOfEach = isOfTags(asking.levels, at)
  const grouped =
    rows.grouped_keys === 1 && !isOfEach
      ? `select p, ${k} as k, ${columns.join(', ')} from ${rows.sql}`
      : `select p, k, ${summed(columns)} from (select p, ${isOfEach ? eachTag(k) : k} as k, ${columns.join(', ')} from ${rows.sql}) group by all`
  const groups = `select p, k, k is not distinct from ${unknownIn(facts, dimension)} as is_spend, ${named(sums)} from (${grouped})
    where sign <> 0 ${haveCost(columns) ? 'or cost <> 0' : ''}`
  const numbered = facts.numbered(dimension)
  const worded =
    numbered === undefined
      ? `select *, k as word from (${groups})`
      : `select s.*, w.word from (${groups}) s left join ${numbered.words} w on w.number = s.k`
  if (sort.by !== UNIQUE_VISITORS || visitors === undefined) return worded
  const seen = isOfEach ? `(select p, ${eachTag(k)} as ${k}, visitor, sign from ${visitors.seen})` : visitors.seen
  return `select s.*, coalesce(v.visitors, 0) as unique_visitors from (${worded}) s left join (
      select id.p as p, id.k as k, visitors from (${countVisitors(`{p: p, k: ${k}} as id`, seen, visitors.every)})
    ) v on v.p = s.p and v.k is not distinct from s.k`
}

/** SQL of the first groups of each parent row by the sort, numbered `rn`. */
function firstGroupsOf(
  at: number,
  sort: ExploreSort,
  { until, isOne, count_pending }: { until: number; isOne: boolean; count_pending: boolean },
): string {
  const order = `${orderOf(sort.by, count_pending)} ${sort.descending ? 'desc' : 'asc'} nulls last${sort.by === 'key' ? '' : ', word asc nulls last'}`
  const clicks = `(from g${at} where not is_spend)`
  // With a single parent, a limit avoids sorting all groups.
  const first = isOne
    ? `select *, row_number() over (order by ${order}) as rn from (from ${clicks} order by ${order} limit ${until})`
    : `select * from (select *, row_number() over (partition by p order by ${order}) as rn from ${clicks}) where rn <= ${until}`
  return `${first} union all select *, ${SPEND_PLACE} as rn from g${at} where is_spend`
}
const SPEND_PLACE = 0

/** The sums of the kept rows of a level in the period before. */
async function sumsBefore(past: LevelGround, at: number, how: { isWhole: boolean } & VisitorLimits) {
  const { ask, sums } = past.asking
  const rows = await ask(`select id, ${named(sums)} from (
    select up.id, ${madeIn(sums)
      .map(name => `coalesce(sum(f.${name}), 0) as ${name}`)
      .join(', ')}
    from ${past.rows.sql} f join l${at} up on ${isInGroup(past.asking.levels, at)} group by 1
  )`)
  const [own, others] = await visitorsOfLevel(past.asking, past.visitors, at, how)
  const sumsById = new Map(rows.map(row => [Number(row['id']), sumsIn(row, sums)]))
  return {
    groups: (id: number): Sums => ({ ...(sumsById.get(id) ?? sumsIn(undefined, sums)), ...own(id) }),
    others,
  }
}

/** The sums of rows with none of the kept tags. They are no difference, because a row with two kept tags is in both. */
async function restsOfTags(ground: LevelGround, past: LevelGround | undefined, at: number) {
  const sumsOf = async ({ asking: { ask, sums, levels }, rows }: LevelGround) => {
    const left = `(from ${rows.sql} f where not exists (select 1 from l${at} up where ${isInGroup(levels, at)}))`
    const found = await ask(`select p, ${named(sums)} from (select p, ${summed(madeIn(sums))} from ${left} group by p)`)
    const byParent = new Map(found.map(row => [Number(row['p']), sumsIn(row, sums)]))
    return (parent: number): Sums => byParent.get(parent) ?? sumsIn(undefined, sums)
  }
  const now = await sumsOf(ground)
  const then = past && (await sumsOf(past))
  return (parent: number): ComparedSums => ({ sums: now(parent), before: then?.(parent) })
}

function without(whole: Sums, parts: readonly Sums[], sums: readonly Sum[]): Sums {
  return Object.fromEntries(
    sums.map(name => [name, parts.reduce((left, part) => left - part[name], whole[name])]),
  ) as Sums
}
