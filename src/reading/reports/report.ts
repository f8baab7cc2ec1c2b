/**
 * The report: tracked clicks by the moment they were made, with their revenue and cost so far. Reads `report_day`, `report_delta`, `event_counts`,
 * `clicks`, `events`, `ad_spend`, `booked_spend` and names, in one statement and so in one snapshot. It must always equal a recount of the clicks
 * that are still kept.
 */
import type { Call } from '../../contract/endpoint.ts'
import { USD } from '../../contract/currencies.ts'
import { toWireId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { possible, type Window } from '../../contract/window.ts'
import type { Statement, Value } from '../../ground/db/statement.ts'
import type { Context, Ground } from '../../ground/room.ts'
import { COUNTERS, STATUS_COUNTERS } from '../../intake/counters/deltas.ts'
import { type Goals, readGoals } from '../../traffic/event-settings/goals.ts'
import type * as api from './api.ts'
import { BY_KEY, CONVERTED, conversionsOf, convertedOf, IN_ALL } from './converted.ts'
import { coverOf } from './cover.ts'
import { clicksKeptFrom, inWholeDays, mayBeGone } from './kept.ts'
import { localDimensionOf, localReport } from './local-report.ts'
import { readWarnings, type ReportQuery, type ReportQuestion, reportQuestionOf } from './question.ts'
import { inReportingCurrency } from './reporting-currency.ts'
import { type Put, sourcesOf } from './sources.ts'
import { countsIn, verdictsIn } from './units.ts'
import { hasCost, SOURCE, spentOf } from './spend.ts'

/** Rows of an answer. */
const MOST_ROWS = 500

const CUT = {
  truncated: true,
  code: 'result_truncated',
  hint: `Only the first ${MOST_ROWS} rows are shown; totals cover all. Narrow the window or add campaign_id.`,
} as const

/** The report for a key, within its campaigns. */
export async function readReport(context: Context<typeof api.readReport>, { query }: Call<typeof api.readReport>) {
  return report(context, query, reportQuestionOf(context.actor, query))
}

/**
 * The report for signed-in people: also by the days and hours of a time zone, and with the conversions by type and of each campaign's goal. By sub1,
 * spend booked without one is `not_broken_down` instead of in the row of clicks without one; rows and it add up to the totals.
 */
export async function readReportAsMember(
  context: Context<typeof api.readReportAsMember>,
  call: Call<typeof api.readReportAsMember>,
): Promise<api.MemberReport> {
  const { query } = call
  if (query.currency !== undefined && query.currency !== USD) return reportIn(context, call, query.currency)
  const local = localDimensionOf(query)
  if (local !== undefined) return localReport(context, query, local)
  const question = reportQuestionOf(context.actor, query)
  const goals = await readGoals(context.database.reads, context.actor.org_id)
  return report(context, query, { ...question, asMember: goals }) as Promise<api.MemberReport>
}

/** The same for these campaigns alone, for figures in lists. */
export async function reportOfCampaigns(
  { database }: Pick<Ground, 'database'>,
  org_id: number,
  question: Pick<ReportQuestion, 'dimension' | 'window'> & { readonly campaigns: readonly string[] },
): Promise<api.MemberReport> {
  const goals = await readGoals(database.reads, org_id)
  return report({ database, actor: { org_id } }, {}, { ...question, asMember: goals }) as Promise<api.MemberReport>
}

/** The report as keys get it, which is cheaper. */
export const moneyReport = ({ database }: Pick<Ground, 'database'>, org_id: number, question: ReportQuestion) =>
  report({ database, actor: { org_id } }, {}, question)

/** The report by day, in another currency. Refuses `rate_unknown`, and `invalid_request` for other dimensions, whose rows span many days. */
async function reportIn(
  context: Context<typeof api.readReportAsMember>,
  call: Call<typeof api.readReportAsMember>,
  currency: string,
) {
  if (call.query.dimension !== 'day')
    refuse('invalid_request', { error: 'currency: goes with dimension=day only, because rates differ by day' })
  const report = await readReportAsMember(context, { ...call, query: { ...call.query, currency: undefined } })
  return inReportingCurrency(context, report, currency)
}

type Asking = Pick<Ground, 'database'> & { readonly actor: { readonly org_id: number } }

async function report({ database, actor }: Asking, query: ReportQuery, question: QuestionWithGoals) {
  const { dimension, window, campaigns, asMember } = question
  const counted = { ...question, window: possible(window) }
  const isEmpty = campaigns?.length === 0 || counted.window.from > counted.window.to
  const { found: rows, moved } = isEmpty ? NOTHING : await runReport(database, actor.org_id, counted)
  const countedWindow = moved ?? window
  const apart = rows.find(row => row['key'] === null)
  const keyed = rows.filter((row): row is KeyedRow => row['key'] !== null)
  const shownRows = keyed.slice(0, MOST_ROWS)
  const warnings = readWarnings(query)
  const figuresOf = (row: SqlRow, prefix: '' | 'total_') => ({
    ...numbersOf(row, prefix, hasCost(dimension)),
    ...(asMember && { ...ofClicks(row, prefix), ...convertedOf(row, prefix) }),
  })
  return {
    dimension,
    window: { from: new Date(countedWindow.from).toISOString(), to: new Date(countedWindow.to).toISOString() },
    rows: shownRows.map(row => ({
      key: keyOf(dimension, row.key),
      label: labelOf(dimension, row),
      ...figuresOf(row, ''),
    })),
    totals: figuresOf(rows[0] ?? {}, 'total_'),
    ...(keyed.length > MOST_ROWS ? CUT : { truncated: false }),
    ...(warnings.length === 0 ? {} : { warnings }),
    not_broken_down: apart === undefined ? null : spendOnly(apart),
  }
}

type ReportSqlRow = { readonly [column: string]: string | null } & { readonly name: string | null }
type KeyedRow = ReportSqlRow & { readonly key: string }
type SqlRow = { readonly [column: string]: string | null }

/**
 * `asMember`: adds what only members get, by these goals. By sub1, spend without one is then a row with the key null, which comes first.
 */
type QuestionWithGoals = ReportQuestion & { readonly asMember?: Goals }
/** `moved` is the window that was counted instead of the one asked for. */
type ReportResult = { readonly found: readonly ReportSqlRow[]; readonly moved?: Window }
const NOTHING: ReportResult = { found: [] }

/**
 * Reads after the report from when on clicks are kept, because a month may be dropped in between. Runs the report again where it has read clicks that
 * were gone.
 */
async function runReport(
  { reads }: Ground['database'],
  org_id: number,
  question: QuestionWithGoals,
): Promise<ReportResult> {
  const now = Date.now()
  for (let window = question.window; ; ) {
    const { text, values = [] } = reportStatement(org_id, { ...question, window }, now)
    const { rows: found } = await reads.query<ReportSqlRow>(text, [...values])
    const whole = mayBeGone(coverOf(window, now), now) ? inWholeDays(window, await clicksKeptFrom(reads)) : window
    if (whole === window) return window === question.window ? { found } : { found, moved: window }
    if (whole.from > whole.to) return { found: [], moved: whole }
    window = whole
  }
}

/** The statement of a report. `now` decides how it is computed, never its result. */
export function reportStatement(org_id: number, question: QuestionWithGoals, now: number): Statement {
  const { dimension, window, campaigns, asMember } = question
  const values: Value[] = [org_id]
  const put: Put = value => `$${values.push(value)}`
  const counters = COUNTERS.map(name => `coalesce(sum(${name}), 0)::bigint as ${name}`).join(', ')
  const isApart = asMember !== undefined && dimension === 'sub1'
  const cover = coverOf(window, now)
  const judged = asMember ? STATUS_COUNTERS : []
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
  ), ${hasCost(dimension) ? `${spentOf({ dimension, window, campaigns, cover, byShare: asMember !== undefined }, isApart, put)}, ` : ''}slice as (
    select ${hasCost(dimension) ? withSpend(listed(name => `coalesce(${name}, 0) as ${name}`)) : '*, cost as cost_of_clicks, null::text as cost_source from grouped'}
  ), totals as (
    select ${COUNTERS.map(name => `coalesce(sum(${name}), 0)::bigint as total_${name}`).join(', ')},
      round(sum(revenue), 2)::text as total_revenue, round(sum(cost), 2)::text as total_cost,
      ${SOURCE} as total_cost_source, round(sum(cost_of_clicks), 2)::text as total_cost_of_clicks,
      coalesce(sum(unread_costs), 0)::bigint as total_unread_costs${listed(name => `${roundedVerdict(`coalesce(sum(${name}), 0)`, name)} as total_${name}`)}
    from slice
  ), ${converted === undefined ? '' : `converted as (${converted}), `}shown as (
    select *, row_number() over (order by ${order}) as place from slice order by place limit ${MOST_ROWS + (isApart ? 2 : 1)}
  )
  select shown.key, ${COUNTERS.map(name => `shown.${name}`).join(', ')},
    round(shown.revenue, 2)::text as revenue, round(shown.cost, 2)::text as cost, shown.cost_source,
    round(shown.cost_of_clicks, 2)::text as cost_of_clicks, shown.unread_costs${listed(name => `${roundedVerdict(`shown.${name}`, name)} as ${name}`)},
    totals.*, ${names === undefined ? 'null' : 'named.name'} as name${converted === undefined ? '' : CONVERTED_SHOWN}
  from shown left join totals on shown.place = 1
    ${converted === undefined ? '' : JOIN_CONVERTED}
    ${names === undefined ? '' : `left join ${names} named on named.org_id = $1 and named.id = nullif(shown.key, '')::uuid`}
  order by shown.place`
  return { text, values }
}

/** SQL of a verdict's number: money with two decimals, or a count. */
const roundedVerdict = (sum: string, name: string) =>
  name === 'revenue_pending' ? `round(${sum}, 2)::text` : `(${sum})::bigint`

const CONVERTED_SHOWN = CONVERTED.map(name => `, by_key.${name}, in_all.${name} as total_${name}`).join('')
const JOIN_CONVERTED = `left join (${BY_KEY}) by_key on by_key.key = shown.key cross join (${IN_ALL}) in_all`

// Spend without clicks becomes a row of its own.
const withSpend = (judged: string) => `coalesce(grouped.key, spent.key) as key,
      ${COUNTERS.map(name => `coalesce(${name}, 0) as ${name}`).join(', ')}, coalesce(revenue, 0) as revenue, spent.cost, cost_source,
      grouped.cost as cost_of_clicks, coalesce(unread_costs, 0) as unread_costs${judged}
    from grouped full join spent on spent.key = grouped.key`

const numbersOf = (row: SqlRow, prefix: '' | 'total_', cost: boolean) => ({
  ...countsIn(row, prefix),
  revenue: row[`${prefix}revenue`] ?? '0.00',
  ...(cost && costOf(row, prefix)),
})

type Source = NonNullable<api.ReportRow['cost_source']>

function costOf(row: SqlRow, prefix: '' | 'total_') {
  return { cost: row[`${prefix}cost`] ?? '0.00', cost_source: (row[`${prefix}cost_source`] ?? null) as Source | null }
}

/** The cost of the clicks themselves, even if booked spend replaces it, and the verdicts on their conversions. */
const ofClicks = (row: SqlRow, prefix: '' | 'total_') => ({
  cost_of_clicks: row[`${prefix}cost_of_clicks`] ?? '0.00',
  ...verdictsIn(row, prefix),
})

/** The spend of the row with the key null, which exists only where there is some. */
const spendOnly = (row: ReportSqlRow) => ({ cost: row['cost'] ?? '0.00', cost_source: row['cost_source'] as Source })

function keyOf(dimension: api.ReportDimension, key: string): string {
  return key !== '' && (dimension === 'campaign' || dimension === 'offer') ? toWireId(key) : key
}

const countries = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })

function labelOf(dimension: api.ReportDimension, { key, name }: KeyedRow): string {
  if (key === '') return '(none)'
  if (dimension === 'geo') return /^[A-Z]{2}$/.test(key) ? (countries.of(key) ?? key) : key
  return name ?? keyOf(dimension, key)
}
