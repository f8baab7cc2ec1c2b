// A fake of TikTok's advertiser/info and report/integrated/get 1.3 on loopback. Nearly all answers are HTTP 200; `code` says whether it worked.
import { type Fake, type Reply, startFake } from './platform-fake.ts'
import type { Arrival } from './receiver.ts'
import { type AdLevel, type Books, clock, reportOf } from './spend-fakes.ts'
import { tiktokReply } from './tiktok-fake.ts'

/** A page of a report that was sent. */
type TikTokPage = { account: string; day: string; page: number; rows: number }

export async function startTikTokReports(books: Books): Promise<Fake<TikTokPage>> {
  return await startFake<TikTokPage>((call, taken) => judge(call, taken, books))
}

const INFO = ['advertiser_id', 'name', 'currency', 'timezone', 'display_timezone', 'status', 'country']
const LEVELS: Record<string, { level: AdLevel; name: string }> = {
  AUCTION_AD: { level: 'ad', name: 'ad' },
  AUCTION_ADGROUP: { level: 'adset', name: 'adgroup' },
  AUCTION_CAMPAIGN: { level: 'campaign', name: 'campaign' },
}

function judge(call: Arrival, taken: TikTokPage[], books: Books): Reply {
  const url = new URL(call.url, 'http://tiktok')
  const [, path] = /^\/open_api\/v1\.3\/(advertiser\/info|report\/integrated\/get)\/$/.exec(url.pathname) ?? []
  if (path === undefined) return { status: 404, body: '<html>404 page not found</html>' }
  if (call.method !== 'GET') return { status: 405, body: '<html>405</html>' }
  const token = call.headers['access-token']
  if (typeof token !== 'string' || books.tokens[token] === undefined)
    return tiktokReply(40_105, 'Access token is incorrect or has been revoked.')
  if (url.searchParams.has('access_token')) return tiktokReply(40_002, 'access_token: Unknown field.')
  const known = books.tokens[token]
  return path === 'advertiser/info'
    ? infoOf(url.searchParams, known, books)
    : reportPage(url.searchParams, known, taken, books)
}

type TokenRights = Books['tokens'][string]

function infoOf(query: URLSearchParams, known: TokenRights, books: Books): Reply {
  const [ids, fields] = [listOf(query.get('advertiser_ids')), listOf(query.get('fields'))]
  if (ids === undefined || ids.length === 0)
    return tiktokReply(40_002, 'advertiser_ids: Missing data for required field.')
  if (fields?.every(name => INFO.includes(name)) !== true) return tiktokReply(40_002, 'fields: Not a valid choice.')
  const stranger = ids.find(id => !known.accounts.includes(id))
  if (stranger !== undefined) return tiktokReply(40_001, `No permission to operate advertiser ${stranger}`)
  const list = ids.flatMap(id => {
    const account = books.accounts[id]
    if (account === undefined) return []
    const all: Record<string, string> = {
      advertiser_id: id,
      currency: account.currency,
      timezone: 'Etc/GMT+8',
      display_timezone: account.timezone,
    }
    return [Object.fromEntries(fields.map(name => [name, all[name] ?? null]))]
  })
  return tiktokReply(0, 'OK', { list })
}

const PARAMETERS = [
  'advertiser_id',
  'report_type',
  'data_level',
  'dimensions',
  'metrics',
  'filtering',
  'start_date',
  'end_date',
  'page',
  'page_size',
]

function reportPage(query: URLSearchParams, known: TokenRights, taken: TikTokPage[], books: Books): Reply {
  const odd = [...query.keys()].find(name => !PARAMETERS.includes(name))
  if (odd !== undefined) return tiktokReply(40_002, `${odd}: Unknown field.`)
  const account = query.get('advertiser_id') ?? ''
  if (!known.accounts.includes(account) || !known.may_read)
    return tiktokReply(40_001, `No permission to operate advertiser ${account}: Reporting`)
  const at = LEVELS[query.get('data_level') ?? '']
  if (at === undefined || query.get('report_type') !== 'BASIC')
    return tiktokReply(40_002, 'data_level: Not a valid choice.')
  const { level, name } = at
  if (listOf(query.get('dimensions'))?.join() !== `${name}_id,stat_time_hour`)
    return tiktokReply(40_002, 'dimensions: invalid')
  if (listOf(query.get('metrics'))?.every(one => ['spend', `${name}_name`].includes(one)) !== true)
    return tiktokReply(40_002, 'metrics: Not a valid choice.')
  const [day, end] = [query.get('start_date') ?? '', query.get('end_date')]
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || day !== end)
    return tiktokReply(40_002, 'When stat_time_hour is used, the time range must be 1 day.')
  const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('page_size') ?? 10)]
  if (!Number.isInteger(page) || page < 1 || !Number.isInteger(size) || size < 1 || size > 1000)
    return tiktokReply(40_002, 'page_size: Must be between 1 and 1000.')
  const deleted = deletedToo(query.get('filtering'), name)
  if (deleted === undefined) return tiktokReply(40_002, 'filtering: invalid')
  const rows = reportOf(books, { account, days: [day], level, deleted })
  const rowsOfPage = Math.min(size, books.page_rows)
  const list = rows.slice((page - 1) * rowsOfPage, page * rowsOfPage)
  taken.push({ account, day, page, rows: list.length })
  return tiktokReply(0, 'OK', {
    list: list.map(({ hour, id, name: called, amount }) => ({
      dimensions: { [`${name}_id`]: id, stat_time_hour: `${day} ${clock(hour)}` },
      metrics: { spend: amount, [`${name}_name`]: called },
    })),
    page_info: {
      page,
      page_size: rowsOfPage,
      total_number: rows.length,
      total_page: Math.ceil(rows.length / rowsOfPage),
    },
  })
}

function listOf(text: string | null): string[] | undefined {
  try {
    const list: unknown = JSON.parse(text ?? '')
    return Array.isArray(list) && list.every(one => typeof one === 'string') ? list : undefined
  } catch {
    return undefined
  }
}

/** Whether deleted objects are requested too; without a filter they are not. */
function deletedToo(text: string | null, name: string): boolean | undefined {
  if (text === null) return false
  try {
    const [filter] = JSON.parse(text) as { field_name: string; filter_type: string; filter_value: string }[]
    if (filter?.field_name !== `${name}_status` || filter.filter_type !== 'IN') return undefined
    return listOf(filter.filter_value)?.includes('STATUS_ALL')
  } catch {
    return undefined
  }
}
