// A fake of Meta's Ads Insights on loopback: checks requests by Meta's documentation, and answers page by page in Meta's format.
import { metaError } from './meta-fake.ts'
import { type Fake, type Reply, startFake } from './platform-fake.ts'
import type { Arrival } from './receiver.ts'
import { type AdLevel, type Books, clock, reportOf } from './spend-fakes.ts'

/** A page of a report that was sent. */
type MetaPage = { account: string; since: string; until: string; rows: number }
export type MetaInsights = Fake<MetaPage>

export async function startMetaInsights(books: Books): Promise<MetaInsights> {
  return await startFake<MetaPage>((call, taken) => judge(call, taken, books))
}

const HOURLY = 'hourly_stats_aggregated_by_advertiser_time_zone'
const STATUSES: Record<AdLevel, string[]> = {
  campaign: ['ACTIVE', 'PAUSED', 'DELETED', 'ARCHIVED', 'IN_PROCESS', 'WITH_ISSUES'],
  adset: ['ACTIVE', 'PAUSED', 'DELETED', 'CAMPAIGN_PAUSED', 'ARCHIVED', 'IN_PROCESS', 'WITH_ISSUES'],
  ad: [
    'ACTIVE',
    'PAUSED',
    'DELETED',
    'PENDING_REVIEW',
    'DISAPPROVED',
    'PREAPPROVED',
    'PENDING_BILLING_INFO',
    'CAMPAIGN_PAUSED',
    'ARCHIVED',
    'ADSET_PAUSED',
    'IN_PROCESS',
    'WITH_ISSUES',
  ],
}

const wrong = (message: string): Reply => metaError(100, undefined, { message: `(#100) ${message}` })

function judge(call: Arrival, taken: MetaPage[], books: Books): Reply {
  const url = new URL(call.url, 'http://graph')
  const [, account, edge] = /^\/v25\.0\/act_(\d+)(\/insights)?$/.exec(url.pathname) ?? []
  if (account === undefined || call.method !== 'GET')
    return metaError(2500, undefined, { message: 'Unknown path components' })
  // Meta also accepts the token in the address, where proxies would log it.
  if (url.searchParams.has('access_token')) return wrong('access_token in the address')
  const token = /^Bearer (\S+)$/.exec(call.headers.authorization ?? '')?.[1]
  const known = token === undefined ? undefined : books.tokens[token]
  if (known === undefined) return metaError(190, 463, { message: 'Error validating access token: Session has expired' })
  if (!known.accounts.includes(account) || books.accounts[account] === undefined)
    return metaError(100, 33, {
      message: `Unsupported get request. Object with ID 'act_${account}' does not exist, cannot be loaded due to missing permissions`,
    })
  if (!known.may_read)
    return metaError(200, undefined, {
      message: '(#200) Ad account owner has NOT grant ads_management or ads_read permission',
    })
  return edge === undefined
    ? nodeOf(url.searchParams, account, books)
    : insightsOf(url.searchParams, account, taken, books)
}

function nodeOf(query: URLSearchParams, account: string, books: Books): Reply {
  const { timezone, currency } = books.accounts[account] ?? { timezone: '', currency: '' }
  const fields: Record<string, string> = {
    timezone_name: timezone,
    currency,
    account_id: account,
    id: `act_${account}`,
  }
  const asked = (query.get('fields') ?? 'id').split(',')
  const odd = asked.find(name => fields[name] === undefined)
  if (odd !== undefined) return wrong(`Tried accessing nonexisting field (${odd})`)
  return { status: 200, body: { ...Object.fromEntries(asked.map(name => [name, fields[name]])), id: `act_${account}` } }
}

const PARAMETERS = ['level', 'fields', 'time_range', 'time_increment', 'breakdowns', 'filtering', 'limit', 'after']

function insightsOf(query: URLSearchParams, account: string, taken: MetaPage[], books: Books): Reply {
  const odd = [...query.keys()].find(name => !PARAMETERS.includes(name))
  if (odd !== undefined) return wrong(`Unknown parameter ${odd}`)
  const level = query.get('level') as AdLevel
  if (STATUSES[level] === undefined) return wrong('level must be one of the following values: ad, adset, campaign')
  if (query.get('breakdowns') !== HOURLY || query.get('time_increment') !== '1')
    return wrong('breakdowns or time_increment')
  const fields = (query.get('fields') ?? '').split(',')
  const names = ['spend', `${level}_id`, `${level}_name`, 'account_currency']
  const unknown = fields.find(name => !names.includes(name))
  if (unknown !== undefined) return wrong(`${unknown} is not valid for fields param`)
  const range = jsonOf(query.get('time_range'))
  const { since, until } = (range ?? {}) as { since?: string; until?: string }
  if (since === undefined || until === undefined || since > until) return wrong('time_range must be a valid range')
  const statuses = statusesOf(query.get('filtering'), level)
  if (statuses === undefined) return wrong('filtering')
  const limit = Math.min(Number(query.get('limit') ?? 25), books.page_rows)
  const from = query.has('after') ? Number(Buffer.from(query.get('after') ?? '', 'base64').toString()) : 0
  if (!Number.isInteger(limit) || limit < 1 || !Number.isInteger(from)) return wrong('Invalid cursors values')
  const rows = reportOf(books, { account, days: daysOf(since, until), level, deleted: statuses.includes('DELETED') })
  const page = rows.slice(from, from + limit)
  taken.push({ account, since, until, rows: page.length })
  const cursor = (at: number) => Buffer.from(String(at)).toString('base64')
  const hasNext = from + limit < rows.length
  const next = `https://graph.facebook.com/v25.0/act_${account}/insights?access_token=a-secret&after=${cursor(from + limit)}`
  return {
    status: 200,
    body: {
      data: page.map(({ day, hour, id, name, amount }) => ({
        spend: amount,
        [`${level}_id`]: id,
        ...(fields.includes(`${level}_name`) && { [`${level}_name`]: name }),
        date_start: day,
        date_stop: day,
        [HOURLY]: `${clock(hour)} - ${clock(hour, '59:59')}`,
      })),
      ...(page.length > 0 && {
        paging: { cursors: { before: cursor(from), after: cursor(from + limit) }, ...(hasNext && { next }) },
      }),
    },
  }
}

function jsonOf(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

/** The requested statuses; without a filter those that are not deleted. */
function statusesOf(text: string | null, level: AdLevel): string[] | undefined {
  if (text === null) return STATUSES[level].filter(status => status !== 'DELETED' && status !== 'ARCHIVED')
  const [filter, ...more] = (jsonOf(text) ?? []) as { field?: string; operator?: string; value?: string[] }[]
  if (more.length > 0 || filter?.field !== `${level}.effective_status` || filter.operator !== 'IN') return undefined
  return filter.value?.every(status => STATUSES[level].includes(status)) ? filter.value : undefined
}

function daysOf(since: string, until: string): string[] {
  const days: string[] = []
  for (let ms = Date.parse(since); ms <= Date.parse(until); ms += 86_400_000)
    days.push(new Date(ms).toISOString().slice(0, 10))
  return days
}
