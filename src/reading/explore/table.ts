/** The table of facts in a local copy: its columns, and how they are read from segments. */
import { WAYS, YES_OR_NO } from '../../contract/explore-dimensions.ts'
import { REACHED, STAGES } from '../../contract/ladder.ts'
import { TEXTS } from '../segments/facts.ts'
import { TEXT_COLUMNS } from '../segments/parquet.ts'
import { quoted } from './columns.ts'
import { nameOfPair, PAIR_SIZE, type Paired, PAIRS } from './pairs.ts'

const one = (condition: string) => `(${condition})::int::bigint`
/** These are not columns of the table, because only the question says which types are the goal. The table has conversions by type. */
type OfGoal = 'conversions' | 'conversions_pending'
const KEPT_PAIRS = PAIRS.filter(pair => pair[0] !== 'conversions')
/** SQL of each paired count of a fact. */
const COUNTED: Readonly<Record<Exclude<Paired, OfGoal>, string>> = {
  ...(Object.fromEntries(STAGES.map((name, at) => [name, one(`stages & ${REACHED[at]} <> 0`)])) as Record<
    (typeof STAGES)[number],
    string
  >),
  new_visitors: one('is_new'),
  unread_costs: one('unread_cost'),
  approved: 'approved::bigint',
  pending: 'pending::bigint',
}

/** The value of `earned` (usually like `ftd:0 lead:12500000`) for a click with revenue whose fact an earlier version wrote without amounts. */
export const NO_AMOUNTS = '?'

/** The words of the texts that facts leave out, because almost all clicks have them. */
export const USUAL_WORDS = { way: WAYS[0], is_left_out: YES_OR_NO[1] } as const

/** The columns as they are read from segments, for tracked clicks. Counts and amounts are multiplied by the sign. */
export const FACT_COLUMNS = [
  'd::integer as d',
  'ms::integer as ms',
  ...TEXTS.map(name =>
    name in USUAL_WORDS
      ? `coalesce(${name}, ${quoted(USUAL_WORDS[name as keyof typeof USUAL_WORDS])}) as ${name}`
      : `nullif(${name}, '') as ${name}`,
  ),
  'visitor::bigint as visitor',
  'is_new::boolean as is_new',
  'stages::utinyint as stages',
  'sign::tinyint as sign',
  ...KEPT_PAIRS.map(
    ([low, high]) =>
      `sign * (${COUNTED[low]} + ${COUNTED[high]} * ${PAIR_SIZE}) as ${nameOfPair([low, high] as never)}`,
  ),
  // Amounts are in a column of their own, so that few texts of counts differ.
  `regexp_replace(conversions, '(:[0-9]+,[0-9]+,[0-9]+),-?[0-9]+', '\\1', 'g') as conversions`,
  `case when conversions is null or coalesce(revenue, 0) = 0 then null
    when regexp_matches(conversions, ':[1-9][0-9]*,[0-9]+,[0-9]+( |$)') then ${quoted(NO_AMOUNTS)}
    else regexp_replace(conversions, ':[0-9]+,[0-9]+,[0-9]+,?', ':', 'g') end as earned`,
  '(sign * rejected)::integer as rejected',
  ...['revenue', 'revenue_pending'].map(name => `sign * coalesce(${name}, 0)::bigint as ${name}`),
  'sign * cost::bigint * 1000 as own_cost',
  // The click's own cost, until `pricing.ts` replaces it by the shares of booked spend.
  ...['cost', 'cost_apart'].map(name => `sign * coalesce(cost, 0)::bigint * 1000 as ${name}`),
  ...['without_cost', 'without_cost_apart'].map(
    name => `(case when cost is null then sign else 0 end)::tinyint as ${name}`,
  ),
].join(', ')

const NUMBERS = 'sign ms visitor stages revenue cost approved pending rejected revenue_pending d s'.split(' ')
const BOOLEANS = ['is_new', 'tracked', 'unread_cost']
const typed = (names: readonly string[], type: string) => names.map(name => `null::${type} as ${name}`).join(', ')
const TEXTS_OF_FILES = typed(TEXT_COLUMNS, 'varchar')
/** An empty relation with all the columns of a segment's file. */
export const NO_FACTS = `(select ${TEXTS_OF_FILES}, ${typed(NUMBERS, 'integer')}, ${typed(BOOLEANS, 'boolean')}) where false`

/** The `from` clause over files of segments, for `FACT_COLUMNS`. Text columns that no file has, because an earlier version wrote them, are null. */
export const fromFiles = (paths: readonly string[], kind: string) =>
  `from (from read_parquet([${paths.map(quoted).join(', ')}], union_by_name = true, hive_partitioning = true, hive_types = {${kind}})
    union all by name select ${TEXTS_OF_FILES} where false) facts where tracked`
