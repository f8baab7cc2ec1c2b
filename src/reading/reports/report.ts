/**
 * The report: tracked clicks by the moment they were made, with what they have earned and cost so far. Reads `report_day`,
 * `report_delta`, `event_counts`, `clicks`, `events`, `ad_spend`, `booked_spend` and names, in one statement and so in one snapshot, and must always equal a recount of the clicks that
 * are still kept.
 */
import type { Call } from '../../contract/endpoint.ts'
import { USD } from '../../contract/currencies.ts'
import { toWireId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { possible, type Window, windowWarnings } from '../../contract/window.ts'
import type { Statement, Value } from '../../ground/db/statement.ts'
import type { Context, Ground } from '../../ground/room.ts'
import { COUNTERS, VERDICTS } from '../../intake/counters/deltas.ts'
import { type Goals, readGoals } from '../../traffic/event-settings/goals.ts'
import type * as api from './api.ts'
import { BY_KEY, CONVERTED, conversionsOf, convertedOf, IN_ALL } from './converted.ts'
import { coverOf } from './cover.ts'
import { clicksKeptFrom, inWholeDays, mayBeGone } from './kept.ts'
import { localDimensionOf, localReport } from './local-report.ts'
import { type Query, type Question, questionOf } from './question.ts'
import { inReportingCurrency } from './reporting-currency.ts'
import { type Put, sourcesOf } from './sources.ts'
import { isSpending, SOURCE, spentOf } from './spend.ts'

/** Rows of an answer. */
const MOST_ROWS = 500

const CUT = {
  truncated: true,
  code: 'result_truncated',
  hint: `Only the first ${MOST_ROWS} rows are shown; totals cover all. Narrow the window or add campaign_id.`,
} as const

/** The report for a key, within its campaigns. */
export async function readReport(context: Context<typeof api.readReport>, { query }: Call<typeof api.readReport>) {
  return report(context, query, questionOf(context.actor, query))
}

/**
 * The same for someone signed in, and by the days and hours of a time zone, with the conversions by type and those of each campaign's goal; by sub1, what was booked without one stands beside the rows instead of with the visitors who came
 * without one, and rows and it come to the totals.
 */
export async function readReportAsMember(
  context: Context<typeof api.readReportAsMember>,
  asked: Call<typeof api.readReportAsMember>,
): Promise<api.MemberReport> {
  const { query } = asked
  if (query.currency !== undefined && query.currency !== USD) return reportIn(context, asked, query.currency)
  const local = localDimensionOf(query)
  if (local !== undefined) return localReport(context, query, local)
  const question = questionOf(context.actor, query)
  const goals = await readGoals(context.database.reads, context.actor.org_id)
  return report(context, query, { ...question, asMember: goals }) as Promise<api.MemberReport>
}

/** The same of these campaigns alone, for figures that stand beside others. */
export async function reportOfCampaigns(
  { database }: Pick<Ground, 'database'>,
  org_id: number,
  question: Pick<Question, 'dimension' | 'window'> & { readonly campaigns: readonly string[] },
): Promise<api.MemberReport> {
  const goals = await readGoals(database.reads, org_id)
  return report({ database, actor: { org_id } }, {}, { ...question, asMember: goals }) as Promise<api.MemberReport>
}

/** Clicks, revenue and cost alone, as keys are answered them. */
export const moneyReport = ({ database }: Pick<Ground, 'database'>, org_id: number, question: Question) =>
  report({ database, actor: { org_id } }, {}, question)

/** The report by day, in another currency. Refuses `invalid_request` by anything else, whose rows are of many days, and `rate_unknown`. */
async function reportIn(
  context: Context<typeof api.readReportAsMember>,
  asked: Call<typeof api.readReportAsMember>,
  currency: string,
) {
  if (asked.query.dimension !== 'day')
    refuse('invalid_request', { error: 'currency: goes with dimension=day only: rates are of a day' })
  const report = await readReportAsMember(context, { ...asked, query: { ...asked.query, currency: undefined } })
  return inReportingCurrency(context, report, currency)
}

type Asking = Pick<Ground, 'database'> & { readonly actor: { readonly org_id: number } }

async function report({ database, actor }: Asking, query: Query, question: Asked) {
  const { dimension, window, campaigns, asMember } = question
  const counted = { ...question, window: possible(window) }
  const isEmpty = campaigns?.length === 0 || counted.window.from > counted.window.to
  const { found, moved } = isEmpty ? NOTHING : await ask(database, actor.org_id, counted)
  const told = moved ?? window
  const apart = found.find(row => row['key'] === null)
  const keyed = found.filter((row): row is Keyed => row['key'] !== null)
  const shown = keyed.slice(0, MOST_ROWS)
  const warnings = windowWarnings(query.date_to)
  const figuresOf = (row: Told, prefix: '' | 'total_') => ({
    ...numbersOf(row, prefix, isSpending(dimension)),
    ...(asMember && { ...ofClicks(row, prefix), ...convertedOf(row, prefix) }),
  })
  return {
    dimension,
    window: { from: new Date(told.from).toISOString(), to: new Date(told.to).toISOString() },
    rows: shown.map(row => ({
      key: keyOf(dimension, row.key),
      label: labelOf(dimension, row),
      ...figuresOf(row, ''),
    })),
    totals: figuresOf(found[0] ?? {}, 'total_'),
    ...(keyed.length > MOST_ROWS ? CUT : { truncated: false }),
    ...(warnings.length === 0 ? {} : { warnings }),
    not_broken_down: apart === undefined ? null : spendOnly(apart),
  }
}

type Found = { readonly [column: string]: string | null } & { readonly name: string | null }
type Keyed = Found & { readonly key: string }
type Told = { readonly [column: string]: string | null }

/**
 * `asMember`: what only members are told, by these goals. Of a report by sub1, spend without one makes a row whose key is null then, which
 * comes first.
 */
type Asked = Question & { readonly asMember?: Goals }
/** `moved` is the window that was counted instead of the one asked for. */
type Answered = { readonly found: readonly Found[]; readonly moved?: Window }
const NOTHING: Answered = { found: [] }

/**
 * What is kept is looked up behind the report, and the report made again where it had looked at clicks that were no longer there: a
 * month may go in between.
 */
async function ask({ reads }: Ground['database'], org_id: number, question: Asked): Promise<Answered> {
  const now = Date.now()
  for (let window = question.window; ; ) {
    const { text, values = [] } = statementFor(org_id, { ...question, window }, now)
    const { rows: found } = await reads.query<Found>(text, [...values])
    const whole = mayBeGone(coverOf(window, now), now) ? inWholeDays(window, await clicksKeptFrom(reads)) : window
    if (whole === window) return window === question.window ? { found } : { found, moved: window }
    if (whole.from > whole.to) return { found: [], moved: whole }
    window = whole
  }
}

/** The statement of a report over a window that is possible. `now` decides how it is computed, never what comes out. */
export function statementFor(org_id: number, question: Asked, now: number): Statement {
  const { dimension, window, campaigns, asMember } = question
  const values: Value[] = [org_id]
  const put: Put = value => `$${values.push(value)}`
  const counters = COUNTERS.map(name => `coalesce(sum(${name}), 0)::bigint as ${name}`).join(', ')
  const isApart = asMember !== undefined && dimension === 'sub1'
  const cover = coverOf(window, now)
  const judged = asMember ? VERDICTS : []
  const listed = (of: (name: string) => string) => judged.map(name => `, ${of(name)}`).join('')
  const order = `${isApart ? 'key is not null, ' : ''}${dimension === 'day' ? 'key' : 'clicks desc, key collate "C"'}`
  const names = dimension === 'campaign' ? 'campaigns' : dimension === 'offer' ? 'offers' : undefined
  const converted = asMember && conversionsOf({ dimension, campaigns, cover, goals: asMember }, put)
  const text = `
  with counted as (
    ${sourcesOf({ dimension, campaigns, cover, verdicts: asMember !== undefined }, put)}
  ), grouped as (
    select key, ${counters}, sum(revenue) as revenue, coalesce(sum(cost), 0) as cost,
      coalesce(sum(unread_costs), 0)::bigint as unread_costs${listed(name => `coalesce(sum(${name}), 0) as ${name}`)}
    from counted group by key having sum(clicks) <> 0
  ), ${isSpending(dimension) ? `${spentOf({ dimension, window, campaigns, cover, byShare: asMember !== undefined }, isApart, put)}, ` : ''}slice as (
    select ${isSpending(dimension) ? withSpend(listed(name => `coalesce(${name}, 0) as ${name}`)) : '*, cost as cost_of_clicks, null::text as cost_source from grouped'}
  ), totals as (
    select ${COUNTERS.map(name => `coalesce(sum(${name}), 0)::bigint as total_${name}`).join(', ')},
      round(sum(revenue), 2)::text as total_revenue, round(sum(cost), 2)::text as total_cost,
      ${SOURCE} as total_cost_source, round(sum(cost_of_clicks), 2)::text as total_cost_of_clicks,
      coalesce(sum(unread_costs), 0)::bigint as total_unread_costs${listed(name => `${told(`coalesce(sum(${name}), 0)`, name)} as total_${name}`)}
    from slice
  ), ${converted === undefined ? '' : `converted as (${converted}), `}shown as (
    select *, row_number() over (order by ${order}) as place from slice order by place limit ${MOST_ROWS + (isApart ? 2 : 1)}
  )
  select shown.key, ${COUNTERS.map(name => `shown.${name}`).join(', ')},
    round(shown.revenue, 2)::text as revenue, round(shown.cost, 2)::text as cost, shown.cost_source,
    round(shown.cost_of_clicks, 2)::text as cost_of_clicks, shown.unread_costs${listed(name => `${told(`shown.${name}`, name)} as ${name}`)},
    totals.*, ${names === undefined ? 'null' : 'named.name'} as name${converted === undefined ? '' : CONVERTED_SHOWN}
  from shown left join totals on shown.place = 1
    ${converted === undefined ? '' : JOIN_CONVERTED}
    ${names === undefined ? '' : `left join ${names} named on named.org_id = $1 and named.id = nullif(shown.key, '')::uuid`}
  order by shown.place`
  return { text, values }
}

/** Money with two decimals, counts as they are. */
const told = (sum: string, name: string) => (name === 'revenue_pending' ? `round(${sum}, 2)::text` : `(${sum})::bigint`)

const CONVERTED_SHOWN = CONVERTED.map(name => `, by_key.${name}, in_all.${name} as total_${name}`).join('')
const JOIN_CONVERTED = `left join (${BY_KEY}) by_key on by_key.key = shown.key cross join (${IN_ALL}) in_all`

// Spend without clicks makes a row of its own.
const withSpend = (judged: string) => `coalesce(grouped.key, spent.key) as key,
      ${COUNTERS.map(name => `coalesce(${name}, 0) as ${name}`).join(', ')}, coalesce(revenue, 0) as revenue, spent.cost, cost_source,
      grouped.cost as cost_of_clicks, coalesce(unread_costs, 0) as unread_costs${judged}
    from grouped full join spent on spent.key = grouped.key`

function numbersOf(row: Told, prefix: '' | 'total_', cost: boolean) {
  const count = (name: (typeof COUNTERS)[number]) => Number(row[prefix + name] ?? 0)
  return {
    clicks: count('clicks'),
    landed: count('landed'),
    started: count('started'),
    registered: count('registered'),
    lead: count('lead'),
    deposit: count('deposit'),
    ftd: count('ftd'),
    revenue: row[`${prefix}revenue`] ?? '0.00',
    ...(cost && costOf(row, prefix)),
  }
}

type Source = NonNullable<api.ReportRow['cost_source']>

function costOf(row: Told, prefix: '' | 'total_') {
  return { cost: row[`${prefix}cost`] ?? '0.00', cost_source: (row[`${prefix}cost_source`] ?? null) as Source | null }
}

/** What the clicks themselves have cost, whatever was entered in its place, and how their conversions stand. */
function ofClicks(row: Told, prefix: '' | 'total_') {
  return {
    cost_of_clicks: row[`${prefix}cost_of_clicks`] ?? '0.00',
    unread_costs: Number(row[`${prefix}unread_costs`] ?? 0),
    revenue_pending: row[`${prefix}revenue_pending`] ?? '0.00',
    approved: Number(row[`${prefix}approved`] ?? 0),
    pending: Number(row[`${prefix}pending`] ?? 0),
    rejected: Number(row[`${prefix}rejected`] ?? 0),
  }
}

/** A row that is there for its spend has some. */
const spendOnly = (row: Found) => ({ cost: row['cost'] ?? '0.00', cost_source: row['cost_source'] as Source })

function keyOf(dimension: api.Dimension, key: string): string {
  return key !== '' && (dimension === 'campaign' || dimension === 'offer') ? toWireId(key) : key
}

const countries = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })

function labelOf(dimension: api.Dimension, { key, name }: Keyed): string {
  if (key === '') return '(none)'
  if (dimension === 'geo') return /^[A-Z]{2}$/.test(key) ? (countries.of(key) ?? key) : key
  return name ?? keyOf(dimension, key)
}
