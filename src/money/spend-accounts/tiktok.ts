/**
 * TikTok's reports: spend by ad (ad group, campaign) and hour of the account's zone, one day per call because an hourly report takes no more. What was
 * deleted since is asked for by name. Nearly everything is answered HTTP 200; the truth is in `code`.
 */
import { fieldsOf } from '../../contract/json.ts'
import {
  type Answer,
  type HourSpend,
  hourSpend,
  MOST_PAGES,
  type Reading,
  rowsOf,
  SpendFault,
  type SpendReader,
  textOf,
} from './reader.ts'

const ROWS_OF_A_PAGE = '1000'
/** What the levels are called here. */
const NAMES: Readonly<Record<Reading['account']['level'], string>> = {
  ad: 'ad',
  adset: 'adgroup',
  campaign: 'campaign',
}

/** Reads an account with a token of the Marketing API; one of the Events Manager is none. */
export function readerOfTikTok({ ask, base, token, account: { external_id, level } }: Reading): SpendReader {
  const call = async (path: string, query: Readonly<Record<string, string>>) =>
    judged(await ask(`${base}/open_api/v1.3/${path}/`, query, { 'access-token': token }))
  const name = NAMES[level]
  return {
    async describe() {
      const { list } = await call('advertiser/info', {
        advertiser_ids: JSON.stringify([external_id]),
        fields: JSON.stringify(['advertiser_id', 'currency', 'timezone', 'display_timezone']),
      })
      const account = rowsOf(list, 'list').find(row => textOf(row['advertiser_id']) === external_id)
      if (account === undefined) throw new SpendFault('account_not_found', `TikTok knows no advertiser ${external_id}`)
      // The other one is a number of hours without a summer.
      const timezone = textOf(account['display_timezone']) ?? textOf(account['timezone'])
      return { timezone: timezone ?? '', currency: textOf(account['currency']) ?? '' }
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
        yield rowsOf(list, 'list').map(row => rowOf(row, name, day))
        if (page >= Number(fieldsOf(page_info)['total_page'] ?? 0)) return
      }
      throw new SpendFault('unexpected_answer', 'its report has no last page')
    },
  }
}

function rowOf(row: Readonly<Record<string, unknown>>, name: string, day: string): HourSpend {
  const [dimensions, metrics] = [fieldsOf(row['dimensions']), fieldsOf(row['metrics'])]
  const [date, hour] = (textOf(dimensions['stat_time_hour']) ?? '').split(' ')
  if (date !== day) throw new SpendFault('unexpected_answer', `it was asked for ${day} and told of another day`)
  return hourSpend({
    hour,
    external_id: dimensions[`${name}_id`],
    name: metrics[`${name}_name`],
    amount: metrics['spend'],
  })
}

const TAKEN = 0
const NO_PERMISSION = 40_001
const INVALID = 40_002
const TOO_MANY = 40_100

function judged({ status, body }: Answer): Readonly<Record<string, unknown>> {
  const code = body['code']
  if (code === TAKEN) return fieldsOf(body['data'])
  if (typeof code !== 'number')
    throw new SpendFault(status === 429 ? 'rate_limited' : 'unavailable', `it answered with ${status}`)
  const words = `TikTok ${code}: ${textOf(body['message']) ?? 'no words'}`
  if (code === TOO_MANY || status === 429) throw new SpendFault('rate_limited', words)
  if (code === NO_PERMISSION) throw new SpendFault('permission_missing', words)
  // The 401xx tell of tokens; all but the one above are answered by a new one.
  if (code > TOO_MANY && code < 40_200) throw new SpendFault('token_refused', words)
  throw new SpendFault(code === INVALID ? 'unexpected_answer' : 'unavailable', words)
}
