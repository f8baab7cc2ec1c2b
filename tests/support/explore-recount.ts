// Answers questions of Explore by plain SQL over the clicks, to compare answers with. It shares no code with the rooms that answer. Rows of one level
// that tie are in the order of their keys' bytes, the one without a key last. Unlike an answer it is never cut.
import type pg from 'pg'
import { type ExploreFilter, type ExploreLevel, type ExploreQuestion, USUAL_TOP } from '../../src/contract/explore.ts'
import type { ExploreAnswer, ExploreMeasures, ExploreRow } from '../../src/contract/explore-answer.ts'
import { type Measure, USUAL_MEASURES } from '../../src/contract/explore-measures.ts'
import type { ExploreDimension } from '../../src/contract/explore-dimensions.ts'
import { firstIdAt, toUuid, toWireId } from '../../src/contract/ids.ts'
import { type Counted, COUNTED_TYPES, holdsOf, measuresOf, minus, SUMS, valueOf } from './explore-measures.ts'
import { USUAL_GOAL } from '../../src/traffic/event-settings/api.ts'

type Db = Pick<pg.Pool, 'query'>
export type RecountedRow = ExploreMeasures & {
  key: string | null
  is_other: boolean
  count_of_other?: number
  before?: ExploreMeasures
  children?: RecountedRow[]
}
export type Recounted = {
  rows: RecountedRow[]
  totals: ExploreMeasures & { before?: ExploreMeasures }
  totals_without_having?: ExploreMeasures & { before?: ExploreMeasures }
  distinct: number[]
}

/** The part of an answer that a recount has, which has no names. */
export const asRecounted = ({ rows, totals, totals_without_having, distinct }: ExploreAnswer): object => ({
  rows: rows.map(unnamed),
  totals,
  ...(totals_without_having && { totals_without_having }),
  distinct,
})

const unnamed = ({ label: _, children, ...row }: ExploreRow): object =>
  children === undefined ? row : { ...row, children: children.map(unnamed) }

/** The millisecond of a click, with which its id begins. */
const MADE = `to_timestamp(('x' || substr(replace(c.id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0)`
const CLOCKS: Partial<Record<ExploreDimension, string>> = {
  day: 'YYYY-MM-DD',
  hour: 'HH24',
  weekday: 'ID',
  weekday_hour: 'ID-HH24',
}
const STAGES: readonly string[] = ['clicked', 'landed', 'started', 'registered', 'lead', 'deposit', 'ftd']
const WORDS: Partial<Record<ExploreDimension, string>> = {
  campaign: 'c.campaign_id::text',
  offer: 'c.offer_id::text',
  landing: 'c.landing_id::text',
  ad_account: 'c.ad_account_id::text',
  bot: 'c.bot_id::text',
  source: 'g.traffic_source_id::text',
  funnel: `case when g.destination->>'type' = 'funnel' then g.destination->>'funnel_id' end`,
  path: 'c.click_flow_node_path',
  is_new: `case when c.visitor_is_new then 'true' else 'false' end`,
  status: `(array['${STAGES.join(`','`)}'])[c.status + 1]`,
  way: `coalesce(c.way, 'redirect')`,
  is_left_out: `(c.left_out is not null)::text`,
}
const OBJECTS: readonly string[] = ['campaign', 'offer', 'landing', 'ad_account', 'bot', 'source', 'funnel', 'tag']
/**
 * The tags of a click’s campaign, offer and landing. Only filters are recounted by them. `$1` is the organization: in a statement with `grouping`, Citus
 * wants it in every sub-select.
 */
const TAGS = `array(
  select unnest(g.tag_ids)
  union select unnest(o.tag_ids) from offers o where o.org_id = $1 and o.id = c.offer_id
  union select unnest(l.tag_ids) from landings l where l.org_id = $1 and l.id = c.landing_id)`

/** SQL of a click's key as text, null without a value. `zone` is the placeholder of the time zone. */
function keyOf(dimension: ExploreDimension, zone: string): string {
  const clock = CLOCKS[dimension]
  if (clock !== undefined) return `to_char(${MADE} at time zone ${zone}, '${clock}')`
  return `nullif(${WORDS[dimension] ?? `c.${dimension}`}, '')`
}

const moment = (text: string): number => Date.parse(text.length === 10 ? `${text}T00:00:00Z` : text)

const OF_TYPES = COUNTED_TYPES.map(
  type => `
      count(*) filter (where type = '${type}' and status = 'approved') as events_${type},
      sum(case status when 'approved' then amount else 0 end) filter (where type = '${type}') as revenue_${type},`,
)
/** What a click's conversions come to by their last status: those of each type, and those that are its campaign's goal. */
const CONVERTED = `lateral (
    select ${OF_TYPES.join('')}
      count(*) filter (where is_goal and status = 'approved') as conversions,
      count(*) filter (where is_goal and status = 'pending') as conversions_pending,
      count(*) filter (where is_goal and status not in ('approved', 'pending')) as conversions_rejected
    from (
      select e.type, coalesce(said.status, 'approved') as status, coalesce(said.amount, e.payout, 0) as amount,
        e.type = any(coalesce(g.goal, (select s.goal from event_settings s where s.org_id = $1), '{${USUAL_GOAL.join()}}')) as is_goal
      from events e left join lateral (
        select status, amount from event_revisions where org_id = $1 and event_id = e.id order by seq desc limit 1
      ) said on true
      where e.org_id = $1 and e.click_id = c.id and not e.test
    ) stood
  ) converted`

/** The clicks of a period that pass the filters, with the keys k1, k2 … of the levels; their visitors alone; and the parameters. */
type Clicks = { readonly text: string; readonly visits: string; readonly values: readonly unknown[] }

async function clicksOf(db: Db, org_id: number, question: ExploreQuestion, from: number, to: number): Promise<Clicks> {
  const values: unknown[] = [org_id, firstIdAt(from), firstIdAt(to + 1), question.time_zone ?? 'UTC']
  const put = (value: unknown) => `$${values.push(value)}`
  const found = (
    more = '',
  ) => `from clicks c left join campaigns g on g.org_id = c.org_id and g.id = c.campaign_id ${more}
    where c.org_id = $1 and c.id >= $2::uuid and c.id < $3::uuid and c.tracked and $4::text is not null`
  const conditions: string[] = []
  for (const filter of question.filters ?? []) {
    if (filter.dimension === 'tag') {
      const ids = (filter.values ?? []).flatMap(value => toUuid(value) ?? [])
      const isNamed = /empty|filled/.test(filter.op) ? `cardinality(${TAGS}) = 0` : `${TAGS} && ${put(ids)}::uuid[]`
      conditions.push(/^(not_|is_not|is_filled)/.test(filter.op) ? `not ${isNamed}` : isNamed)
      continue
    }
    const key = keyOf(filter.dimension, '$4::text')
    const matched = await keysNamed(filter, async () => {
      const { rows } = await db.query<{ key: string }>(
        `select distinct ${key} as key ${found()} and ${key} is not null`,
        values.slice(0, 4),
      )
      return rows.map(row => row.key)
    })
    // A missing value equals none of those named; the empty text names it.
    const isNamed = `coalesce(${key}, '') = any(${put(matched)}::text[])`
    conditions.push(/^(not_|is_not|is_filled)/.test(filter.op) ? `not ${isNamed}` : isNamed)
  }
  const keys = question.levels.map(({ dimension }, at) => `${keyOf(dimension, '$4::text')} as k${at + 1}`)
  const within = (question.within ?? []).map(
    (key, at) => `k${at + 1} is not distinct from ${put(innerKey(question.levels[at], key))}`,
  )
  const select = (columns: string, more = '') =>
    `select * from (select ${keys.join(', ')}, ${columns} ${[found(more), ...conditions].join(' and ')}) k
    where ${['true', ...within].join(' and ')}`
  const text = select('c.*, converted.*', `left join ${CONVERTED} on true`)
  return { text, visits: select('c.visitor_id'), values }
}

/** The keys that a filter names. Keys that contain a text are found in JavaScript, because it lowers letters of every alphabet. */
async function keysNamed(
  { dimension, op, values = [] }: ExploreFilter,
  keys: () => Promise<string[]>,
): Promise<string[]> {
  if (op === 'is_empty' || op === 'is_filled') return ['']
  if (op !== 'contains' && op !== 'not_contains')
    return values.map(value => (OBJECTS.includes(dimension) && value !== '' ? (toUuid(value) ?? 'none') : value))
  const parts = values.map(value => value.toLowerCase())
  return (await keys()).filter(key => parts.some(part => key.toLowerCase().includes(part)))
}

const innerKey = (level: ExploreLevel | undefined, key: string | null) =>
  key !== null && OBJECTS.includes(level?.dimension ?? '') ? (toUuid(key) ?? 'none') : key

/** A row of a level, or the total (no keys): its keys and sums. */
type Node = { readonly keys: readonly (string | null)[]; readonly counted: Counted }

/** All rows of all levels in one statement, so that each row is counted instead of summed. */
async function nodesOf(db: Db, { text, values }: Clicks, question: ExploreQuestion): Promise<Map<string, Node[]>> {
  const levels = question.levels.length
  const names = Array.from({ length: levels }, (_, at) => `k${at + 1}`)
  const sets = [...names.keys(), levels].map(depth => `(${names.slice(0, depth).join(', ')})`)
  const { rows } = await db.query<Record<string, string | null>>(
    `select ${names.join(', ')}, ${names.map(name => `1 - grouping(${name})`).join(' + ')} as depth, ${SUMS} from (${text}) clicks
    group by grouping sets (${sets.join(', ')})`,
    [...values],
  )
  const counted = (row: Counted): Counted =>
    question.count_pending === true
      ? { ...row, conversions: String(BigInt(row.conversions) + BigInt(row.conversions_pending)) }
      : row
  const below = new Map<string, Node[]>()
  for (const row of rows) {
    const keys = names.slice(0, Number(row['depth'])).map(name => row[name] ?? null)
    const place = keys.length === 0 ? 'total' : placeOf(keys.slice(0, -1))
    below.set(place, [...(below.get(place) ?? []), { keys, counted: counted(row as unknown as Counted) }])
  }
  return below
}

const placeOf = (keys: readonly (string | null)[]): string => JSON.stringify(keys)

/** The question and its counts, also of the period before where it compares. */
type Asked = {
  readonly db: Db
  readonly question: ExploreQuestion
  readonly measures: readonly Measure[]
  readonly clicks: Clicks
  readonly below: Map<string, Node[]>
  readonly earlier?: { readonly clicks: Clicks; readonly below: Map<string, Node[]> }
}

/** Answers a question with a window of clicks that are kept. Everything is exact, unique visitors too. */
export async function recountExplore(db: Db, org_id: number, question: ExploreQuestion): Promise<Recounted> {
  const [from, to] = [moment(question.date_from ?? ''), moment(question.date_to ?? '')]
  const clicks = await clicksOf(db, org_id, question, from, to)
  const isCompared = question.compare === 'before'
  const before = isCompared ? await clicksOf(db, org_id, question, from - (to - from + 1), from - 1) : undefined
  const whole = await askedOf(db, question, clicks, before)
  const start = (question.within ?? []).map((key, at) => innerKey(question.levels[at], key))
  const left = leftOf(question, whole.below)
  const asked =
    left.length === 0 ? whole : await askedOf(db, question, among(clicks, left), before && among(before, left))
  // An opened row is answered without further levels.
  const distinct = (question.within === undefined ? question.levels : [0]).map(() => 0)
  const rows = await rowsBelow(asked, start, distinct)
  const totalsOf = (one: Asked) => figures(one, sumsAt(one.below, start), earlierAt(one, start))
  return {
    rows,
    totals: totalsOf(asked),
    ...(isFiltered(question) && { totals_without_having: totalsOf(whole) }),
    distinct,
  }
}

/** Whether it has filters on figures, including those above an opened row, which are not applied. */
const isFiltered = ({ levels, having = [] }: ExploreQuestion): boolean =>
  [having, ...levels.map(level => level.having ?? [])].some(all => all.length > 0)

async function askedOf(db: Db, question: ExploreQuestion, clicks: Clicks, before: Clicks | undefined): Promise<Asked> {
  const measures = question.measures ?? USUAL_MEASURES
  const asked: Asked = { db, question, measures, clicks, below: await nodesOf(db, clicks, question) }
  if (before === undefined) return asked
  return { ...asked, earlier: { clicks: before, below: await nodesOf(db, before, question) } }
}

/** Keys of rows of one level, and how many keys each row has. */
type Left = { readonly depth: number; readonly keys: readonly Node['keys'][] }

/** For each level with filters on figures, the keys of the matching rows. */
function leftOf({ levels, having = [], within = [] }: ExploreQuestion, below: Map<string, Node[]>): Left[] {
  const nodes = [...below].flatMap(([place, inside]) => (place === 'total' ? [] : inside))
  return levels.flatMap(({ having: own = [] }, at) => {
    const all = at === levels.length - 1 ? [...own, ...having] : own
    if (all.length === 0 || at < within.length) return []
    const ofLevel = nodes.filter(({ keys }) => keys.length === at + 1)
    const held = ofLevel.filter(({ counted }) => all.every(one => holdsOf(counted, one)))
    return [{ depth: at + 1, keys: held.map(({ keys }) => keys) }]
  })
}

/** Only the clicks whose keys are among these. */
function among({ text, visits, values }: Clicks, left: readonly Left[]): Clicks {
  const put = [...values]
  const conditions = left.map(({ depth, keys }) => {
    const place = put.push(JSON.stringify(keys))
    const own = `to_jsonb(array[${Array.from({ length: depth }, (_, at) => `k${at + 1}`).join(', ')}]::text[])`
    return `exists (select from jsonb_array_elements($${place}::jsonb) one where one = ${own})`
  })
  const of = (all: string) => `select * from (${all}) whole where ${conditions.join(' and ')}`
  return { text: of(text), visits: of(visits), values: put }
}

const isOfTime = ({ dimension }: ExploreLevel): boolean => dimension in CLOCKS
/** The sums of a row; zeros where there is none. */
const sumsAt = (below: Map<string, Node[]>, keys: readonly (string | null)[]): Counted | undefined =>
  below
    .get(keys.length === 0 ? 'total' : placeOf(keys.slice(0, -1)))
    ?.find(node => placeOf(node.keys) === placeOf(keys))?.counted

const earlierAt = ({ earlier }: Asked, keys: readonly (string | null)[]) =>
  earlier && { sums: sumsAt(earlier.below, keys) }

function figures({ measures }: Asked, counted: Counted | undefined, earlier?: { sums: Counted | undefined }) {
  const now = measuresOf(counted, measures)
  return earlier === undefined ? now : { ...now, before: measuresOf(earlier.sums, measures) }
}

/** The rows below the keys in order, and `other`. Adds to `distinct` how many keys each level has. */
async function rowsBelow(asked: Asked, above: readonly (string | null)[], distinct: number[]): Promise<RecountedRow[]> {
  const { question, below, earlier } = asked
  const at = above.length
  const level = question.levels[at] as ExploreLevel
  const nodes = (below.get(placeOf(above)) ?? []).toSorted(inOrder(question, level))
  const shown = at - (question.within?.length ?? 0)
  distinct[shown] = (distinct[shown] ?? 0) + nodes.length
  const skipped = question.after ?? 0
  const top = level.top ?? USUAL_TOP[at] ?? 0
  const kept = nodes.slice(skipped, skipped + top)
  const rows: RecountedRow[] = []
  for (const { keys, counted } of kept) {
    const inner = keys.at(-1) ?? null
    const key = inner !== null && OBJECTS.includes(level.dimension) ? toWireId(inner) : inner
    const row: RecountedRow = { key, is_other: false, ...figures(asked, counted, earlierAt(asked, keys)) }
    const isDeeper = question.within === undefined && at + 1 < question.levels.length
    rows.push(isDeeper ? { ...row, children: await rowsBelow(asked, keys, distinct) } : row)
  }
  const others = nodes.slice(skipped + top)
  if (others.length === 0) return rows
  const gone = nodes.slice(0, skipped + top)
  const other = await restOf(asked, asked, above, gone)
  const otherBefore = earlier && { sums: await restOf(asked, earlier, above, gone) }
  return [...rows, { key: null, is_other: true, count_of_other: others.length, ...figures(asked, other, otherBefore) }]
}

/** The parent's sums less the rows shown; its visitors are counted again, because some are in both. */
async function restOf(
  { db, measures }: Asked,
  { clicks, below }: Pick<Asked, 'clicks' | 'below'>,
  above: readonly (string | null)[],
  gone: readonly Node[],
): Promise<Counted> {
  const rest = gone.reduce((sum, { keys }) => minus(sum, sumsAt(below, keys)), minus(sumsAt(below, above), undefined))
  if (!measures.includes('unique_visitors')) return rest
  const values = [...clicks.values]
  const put = (value: unknown) => `$${values.push(value)}::text`
  const parent = above.map((key, at) => `k${at + 1} is not distinct from ${put(key)}`)
  const others = gone.map(({ keys }) => `k${keys.length} is distinct from ${put(keys.at(-1))}`)
  const { rows } = await db.query<{ visitors: string }>(
    `select count(distinct visitor_id) as visitors from (${clicks.visits}) clicks where ${['true', ...parent, ...others].join(' and ')}`,
    values,
  )
  return { ...rest, visitors: rows[0]?.visitors ?? '0' }
}

/** The order of two rows of a level. Unknown figures come last in both directions. */
function inOrder({ sort }: ExploreQuestion, level: ExploreLevel): (one: Node, other: Node) => number {
  const usual = isOfTime(level)
    ? { by: 'key' as const, descending: false }
    : { by: 'clicks' as const, descending: true }
  const { by, descending } = level.sort ?? sort ?? usual
  const sign = descending ? -1 : 1
  const keys = (one: Node, other: Node) => byKey(level, one.keys.at(-1) ?? null, other.keys.at(-1) ?? null)
  if (by === 'key') return (one, other) => keys(one, other) * (isMissing(one) || isMissing(other) ? 1 : sign)
  return (one, other) => {
    const [left, right] = [valueOf(one.counted, by), valueOf(other.counted, by)]
    if (left === null || right === null) return Number(left === null) - Number(right === null) || keys(one, other)
    return (left < right ? -sign : left > right ? sign : 0) || keys(one, other)
  }
}

const isMissing = ({ keys }: Node): boolean => keys.at(-1) == null

/** By bytes, stages in their order; a missing key comes last. */
function byKey({ dimension }: ExploreLevel, one: string | null, other: string | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  if (dimension === 'status') return STAGES.indexOf(one) - STAGES.indexOf(other)
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}
