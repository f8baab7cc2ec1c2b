/**
 * Asks a question level by level: the groups of a level below the rows that are kept of the one above, of each of those the first by its sort,
 * and so on. What is left out is not counted again: it is what the row above has and the kept ones have not.
 */
import { type ExploreSort, MOST_EXACT_VISITORS, UNIQUE_VISITORS } from '../../contract/explore.ts'
import type { Window } from '../../contract/window.ts'
import type { Ask, Found } from './engine.ts'
import type { Level, Question } from './question.ts'
import { type Facts, factsOf, orderOf, type Sum, sumColumns, sumsOf } from './scan.ts'
import { refuseTooWide, type WideLimits } from './wide.ts'

export type Sums = Readonly<Record<Sum, bigint>> & { readonly unique_visitors?: bigint }

/** A group as it was found: of the row `parent` of the level above, with its value in the dimension of its level. */
export type Group = {
  readonly id: number
  readonly parent: number
  readonly value: Found[string]
  readonly sums: Sums
  readonly before: Sums | undefined
}
/** What a row above has besides its groups. `keys` is how many. */
type Rest = { readonly keys: number; readonly sums: Sums; readonly before: Sums | undefined }

type LevelFound = {
  readonly groups: ReadonlyMap<number, readonly Group[]>
  readonly rest: ReadonlyMap<number, Rest>
  /** How many keys there are, of all rows above that were opened. */
  readonly distinct: number
}

export type AllFound = {
  readonly totals: Sums
  readonly before: Sums | undefined
  readonly levels: readonly LevelFound[]
  readonly is_estimate: boolean
}

type Asking = {
  readonly ask: Ask
  readonly facts: Facts
  readonly question: Question
  readonly sums: readonly Sum[]
  /** How unique visitors are counted; undefined where nobody asks. */
  readonly visitors: 'exact' | 'estimate' | undefined
}

/** A level below one without rows. */
const NOTHING_FOUND: LevelFound = { groups: new Map(), rest: new Map(), distinct: 0 }

/** The number of the row that all others are below. */
export const ROOT = 0

/** Answers all levels that are asked for: with `within` the one below it alone. At most `most` rows. Refuses `question_too_wide`. */
export async function askLevels(
  ask: Ask,
  facts: Facts,
  question: Question,
  most: number,
  limits: WideLimits,
): Promise<AllFound> {
  const sums = sumsOf([
    ...question.measures,
    ...question.levels.flatMap(({ sort }) => (sort.by === 'key' ? [] : [sort.by])),
  ])
  const asking: Asking = { ask, facts, question, sums, visitors: undefined }
  const counted = await totalsOf(asking, question.window)
  await refuseTooWide(ask, facts, question, counted.clicks, limits)
  const wantsVisitors = question.measures.includes(UNIQUE_VISITORS)
  const isFew = (counted.clicks ?? 0n) <= BigInt(MOST_EXACT_VISITORS)
  const whole: Asking = wantsVisitors ? { ...asking, visitors: isFew ? 'exact' : 'estimate' } : asking
  const totals = wantsVisitors ? { ...counted, ...(await visitorsOf(whole, question.window)) } : counted
  const before = question.before && (await totalsOf(whole, question.before))
  const levels: LevelFound[] = []
  let parents: ReadonlyMap<number, Compared> = new Map([[ROOT, { sums: totals, before }]])
  let left = most
  const first = question.within?.length ?? 0
  const last = question.within === undefined ? question.levels.length : first + 1
  for (let at = first; at < last; at += 1) {
    if (parents.size === 0) {
      levels.push(NOTHING_FOUND)
      continue
    }
    const found = await askLevel(whole, at, parents, left)
    levels.push(found)
    const groups = [...found.groups.values()].flat()
    parents = new Map(groups.map(group => [group.id, group]))
    left -= groups.length
  }
  return { totals, before, levels, is_estimate: whole.visitors === 'estimate' }
}

type Compared = { readonly sums: Sums; readonly before: Sums | undefined }

async function totalsOf(asking: Asking, window: Window): Promise<Sums> {
  const { ask, facts, question, sums } = asking
  const [row] = await ask(`select ${sumColumns(sums)} from (${factsOf(facts, question, window, [])})`)
  const found = sumsIn(row, sums)
  return asking.visitors === undefined ? found : { ...found, ...(await visitorsOf(asking, window)) }
}

/** Whether of some day of the window nothing tells one visitor from another. */
const areVisitorsGone = ({ facts: { emptied_before } }: Asking, { from }: Window) =>
  Boolean(emptied_before) && from < Date.parse(emptied_before ?? '')

async function visitorsOf(asking: Asking, window: Window): Promise<Pick<Sums, 'unique_visitors'>> {
  if (areVisitorsGone(asking, window)) return {}
  const facts = factsOf(asking.facts, asking.question, window, [])
  const [row] = await asking.ask(countVisitors(asking, '0 as id', facts))
  return { unique_visitors: BigInt((row?.['visitors'] as bigint | undefined) ?? 0n) }
}

/** Rows of `id` and `visitors`. A click that was taken out of a group leaves two rows there, which come to nothing. */
function countVisitors({ visitors }: Asking, id: string, from: string): string {
  if (visitors === 'estimate')
    return `select ${id}, approx_count_distinct(visitor) as visitors from (${from}) group by 1`
  return `select id, count(*) as visitors from (
    select ${id}, visitor from (${from}) where visitor is not null group by all having sum(sign) > 0
  ) group by id`
}

/** Finds the groups of a level, keeps the first of each row above as the table `l<at>`, and answers them. */
async function askLevel(
  asking: Asking,
  at: number,
  parents: ReadonlyMap<number, Compared>,
  most: number,
): Promise<LevelFound> {
  const { ask, question, sums } = asking
  const level = question.levels[at] as Level
  const first = question.within?.length ?? 0
  await ask(`create temp table g${at} as ${groupsOf(asking, at, level.sort)}`)
  // Parents are opened in the order of the answer until it is full; each is opened whole or not at all.
  const shown = `rn <= ${question.after + level.top}`
  await ask(`create temp table l${at} as
    select row_number() over (order by g.p, g.rn) as id, ${at > first ? `${keysOf(at, first, 'up')}, ` : ''}g.k as k${at + 1}, g.* exclude (k, so_far)
    from (select *, count(*) over (order by p range unbounded preceding) as so_far from g${at} where ${shown}) g
    ${at > first ? `join l${at - 1} up on up.id = g.p` : ''} where g.so_far <= ${most + question.after}`)
  const rows = await ask(`select id, p, n, rn, k${at + 1} as k, ${sums.join(', ')} from l${at} order by id`)
  const distinct = (await ask(`select count(*) as n from g${at}`))[0]
  const [own, others] = await visitorsOfLevel(asking, at, question.window)
  const before = question.before && (await sumsBefore(asking, at, question.before))
  const all = rows.map((row): Group & { n: number; rn: number } => {
    const id = Number(row['id'])
    return {
      id,
      parent: Number(row['p']),
      n: Number(row['n']),
      rn: Number(row['rn']),
      value: row['k'] ?? null,
      sums: { ...sumsIn(row, sums), ...own(id) },
      before: before?.groups(id),
    }
  })
  const groups = Map.groupBy(all, ({ parent }) => parent)
  const rest = new Map<number, Rest>()
  for (const [parent, inside] of groups) {
    const above = parents.get(parent)
    const keys = (inside[0]?.n ?? 0) - question.after - level.top
    if (above === undefined || keys <= 0) continue
    const left = leftOf(above, inside, sums)
    const beforeLeft = left.before && { ...left.before, ...before?.others(parent) }
    rest.set(parent, { keys, sums: { ...left.sums, ...others(parent) }, before: beforeLeft })
  }
  const visible = new Map(
    [...groups].map(([parent, inside]) => [parent, inside.filter(({ rn }) => rn > question.after)] as const),
  )
  return { groups: visible, rest, distinct: Number(distinct?.['n'] ?? 0) }
}

/** What a row has besides its groups. */
function leftOf(above: Compared, inside: readonly Group[], sums: readonly Sum[]): Compared {
  const now = inside.map(group => group.sums)
  const then = inside.flatMap(group => group.before ?? [])
  return { sums: without(above.sums, now, sums), before: above.before && without(above.before, then, sums) }
}

const dimensionsUpTo = ({ levels, within = [] }: Question, at: number) =>
  levels
    .slice(0, at + 1)
    .map(({ dimension }) => dimension)
    .slice(within.length)

/** `up.k1, up.k2`: of the levels `first` to `at`, those of the row above. */
const keysOf = (at: number, first: number, table: string) =>
  Array.from({ length: at - first }, (_, place) => `${table}.k${first + place + 1}`).join(', ')

/** The facts with the keys of the levels `first` to `at`, numbered by their level. */
function keyed({ facts, question }: Asking, at: number, window: Window): string {
  const first = question.within?.length ?? 0
  const text = factsOf(facts, question, window, dimensionsUpTo(question, at))
  if (first === 0) return text
  const names = dimensionsUpTo(question, at).map((_, place) => `k${place + 1} as k${first + place + 1}`)
  return `select ${names.join(', ')}, * exclude (${dimensionsUpTo(question, at)
    .map((_, place) => `k${place + 1}`)
    .join(', ')}) from (${text})`
}

/** `on` of facts and the rows kept of a level, the keys of the levels from `first` on being alike. */
function alike(at: number, first: number): string {
  const pairs = Array.from({ length: at - first + 1 }, (_, place) => first + place + 1)
  return pairs.map(name => `f.k${name} is not distinct from up.k${name}`).join(' and ')
}

/** Each group of a level with its sums, its place `rn` below the row `p` above, and how many there are, `n`. */
function groupsOf(asking: Asking, at: number, sort: ExploreSort): string {
  const { question, sums } = asking
  const isByVisitors = sort.by === UNIQUE_VISITORS && !areVisitorsGone(asking, question.window)
  // Whom nobody counts cannot be sorted by.
  const by = sort.by === UNIQUE_VISITORS && !isByVisitors ? 'clicks' : sort.by
  const first = question.within?.length ?? 0
  const from = keyed(asking, at, question.window)
  const below =
    at === first
      ? `select ${ROOT} as p, f.k${at + 1} as k, f.* from (${from}) f`
      : `select up.id as p, f.k${at + 1} as k, f.* from (${from}) f join l${at - 1} up on ${alike(at - 1, first)}`
  const summed = `select p, k, ${sumColumns(sums)} from (${below}) group by all having sum(sign) <> 0`
  const found = isByVisitors
    ? `select s.*, coalesce(v.visitors, 0) as unique_visitors from (${summed}) s left join (
        select id.p as p, id.k as k, visitors from (${countVisitors(asking, '{p: p, k: k} as id', below)})
      ) v on v.p = s.p and v.k is not distinct from s.k`
    : summed
  const order = `${orderOf(by)} ${sort.descending ? 'desc' : 'asc'} nulls last${by === 'key' ? '' : ', k asc nulls last'}`
  return `select *, row_number() over (partition by p order by ${order}) as rn, count(*) over (partition by p) as n from (${found})`
}

type Visitors = (id: number) => Pick<Sums, 'unique_visitors'>
const NONE: Visitors = () => ({})

/** Unique visitors of each kept row, and of what is left out below each row above. */
async function visitorsOfLevel(asking: Asking, at: number, window: Window): Promise<[Visitors, Visitors]> {
  if (asking.visitors === undefined || areVisitorsGone(asking, window)) return [NONE, NONE]
  const first = asking.question.within?.length ?? 0
  const from = keyed(asking, at, window)
  const kept = await asking.ask(
    countVisitors(
      asking,
      'id',
      `select up.id, f.visitor, f.sign from (${from}) f join l${at} up on ${alike(at, first)}`,
    ),
  )
  const parent = at === first ? `${ROOT} as id` : 'up.id'
  const above = at === first ? '' : `join l${at - 1} up on ${alike(at - 1, first)}`
  const others = await asking.ask(
    countVisitors(
      asking,
      'id',
      `select ${parent}, f.visitor, f.sign from (${from}) f ${above} where not exists (select 1 from l${at} up where ${alike(at, first)})`,
    ),
  )
  return [lookUp(kept), lookUp(others)]
}

function lookUp(rows: readonly Found[]): Visitors {
  const found = new Map(rows.map(row => [Number(row['id']), BigInt(row['visitors'] as bigint)]))
  return id => ({ unique_visitors: found.get(id) ?? 0n })
}

/** What the kept rows of a level came to in the period before. */
async function sumsBefore(asking: Asking, at: number, window: Window) {
  const { ask, question, sums } = asking
  const first = question.within?.length ?? 0
  const from = keyed(asking, at, window)
  const rows = await ask(
    `select id, ${sumColumns(sums)} from (select up.id, f.* from (${from}) f join l${at} up on ${alike(at, first)}) group by 1`,
  )
  const [own, others] = await visitorsOfLevel(asking, at, window)
  const found = new Map(rows.map(row => [Number(row['id']), sumsIn(row, sums)]))
  return {
    groups: (id: number): Sums => ({ ...(found.get(id) ?? sumsIn(undefined, sums)), ...own(id) }),
    others,
  }
}

function sumsIn(row: Found | undefined, sums: readonly Sum[]): Sums {
  return Object.fromEntries(sums.map(name => [name, BigInt((row?.[name] as bigint | number | undefined) ?? 0)])) as Sums
}

function without(whole: Sums, parts: readonly Sums[], sums: readonly Sum[]): Sums {
  return Object.fromEntries(
    sums.map(name => [name, parts.reduce((left, part) => left - part[name], whole[name])]),
  ) as Sums
}
