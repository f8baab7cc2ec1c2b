/**
 * TikTok's reports: spend by ad (ad group, campaign) and hour of the account's time zone, one day per request, because an hourly report allows no
 * more. The filter includes deleted objects. Nearly all answers are HTTP 200; `code` says whether it worked.
 */
import { fieldsOf } from '../../contract/json.ts'
import {
  type PlatformAnswer,
  type HourSpend,
  hourSpend,
  MOST_PAGES,
  type ReaderInput,
  reportRows,
  SpendFault,
  type SpendReader,
  textField,
} from './reader.ts'

const ROWS_OF_A_PAGE = '1000'
/** TikTok's names of the levels. */
const NAMES: Readonly<Record<ReaderInput['account']['level'], string>> = {
  ad: 'ad',
  adset: 'adgroup',
  campaign: 'campaign',
}

/** A reader of a TikTok account. Needs a token of the Marketing API, not one of the Events Manager. */
export function openTikTokReader({ request, base, token, account: { external_id, level } }: ReaderInput): SpendReader {
  const call = async (path: string, query: Readonly<Record<string, string>>) =>
    dataOrThrow(await request(`${base}/open_api/v1.3/${path}/`, query, { 'access-token': token }))
  const name = NAMES[level]
  return {
    async describe() {
      const { list } = await call('advertiser/info', {
        advertiser_ids: JSON.stringify([external_id]),
        fields: JSON.stringify(['advertiser_id', 'currency', 'timezone', 'display_timezone']),
      })
      const account = reportRows(list, 'list').find(row => textField(row['advertiser_id']) === external_id)
      if (account === undefined) throw new SpendFault('account_not_found', `TikTok knows no advertiser ${external_id}`)
      // `timezone` is a fixed offset without daylight saving time.
      const timezone = textField(account['display_timezone']) ?? textField(account['timezone'])
      return { timezone: timezone ?? '', currency: textField(account['currency']) ?? '' }
    },
    async *pagesOf(day) {
      const query = {
        advertiser_id: external_id,
        report_type: 'BASIC',
        data_level: `AUCTION_${name.toUpperCase()}`,
        dimensions: JSON.stringify([`${name}_id`, 'stat_time_hour']),
        metrics: JSON.stringify(['spend', `${name}_name`]),
        filtering: JSON.stringify([
          { field_name: `${name}_status`, filter_type: 'IN', filter_value: JSON.stringify(['STATUS_ALL']) },
        ]),
        start_date: day,
        end_date: day,
        page_size: ROWS_OF_A_PAGE,
      }
      for (let page = 1; page <= MOST_PAGES; page += 1) {
        const { list, page_info } = await call('report/integrated/get', { ...query, page: String(page) })
        yield reportRows(list, 'list').map(row => rowOf(row, name, day))
        if (page >= Number(fieldsOf(page_info)['total_page'] ?? 0)) return
      }
      throw new SpendFault('unexpected_answer', 'its report has no last page')
    },
  }
}

function rowOf(row: Readonly<Record<string, unknown>>, name: string, day: string): HourSpend {
  const [dimensions, metrics] = [fieldsOf(row['dimensions']), fieldsOf(row['metrics'])]
  const [date, hour] = (textField(dimensions['stat_time_hour']) ?? '').split(' ')
  if (date !== day) throw new SpendFault('unexpected_answer', `its report for ${day} has rows of another day`)
  return hourSpend({
    hour,
    external_id: dimensions[`${name}_id`],
    name: metrics[`${name}_name`],
    amount: metrics['spend'],
  })
}

const OK = 0
const NO_PERMISSION = 40_001
const INVALID = 40_002
const TOO_MANY = 40_100

function dataOrThrow({ status, body }: PlatformAnswer): Readonly<Record<string, unknown>> {
  const code = body['code']
  if (code === OK) return fieldsOf(body['data'])
  if (typeof code !== 'number')
    throw new SpendFault(status === 429 ? 'rate_limited' : 'unavailable', `it answered HTTP ${status}`)
  const words = `TikTok ${code}: ${textField(body['message']) ?? 'no message'}`
  if (code === TOO_MANY || status === 429) throw new SpendFault('rate_limited', words)
  if (code === NO_PERMISSION) throw new SpendFault('permission_missing', words)
  // Codes 401xx concern the token; all but TOO_MANY need a new one.
  if (code > TOO_MANY && code < 40_200) throw new SpendFault('token_refused', words)
  throw new SpendFault(code === INVALID ? 'unexpected_answer' : 'unavailable', words)
}
