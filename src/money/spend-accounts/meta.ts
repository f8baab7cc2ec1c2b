/**
 * Meta's Ads Insights: spend by ad (ad set, campaign) and hour of the account's time zone. The filter names every status, because the report
 * leaves out deleted objects and their spend otherwise.
 */
import { MINUTE_MS } from '../../contract/days.ts'
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

const HOURLY = 'hourly_stats_aggregated_by_advertiser_time_zone'
const ROWS_OF_A_PAGE = '500'

const SHARED = ['ACTIVE', 'PAUSED', 'DELETED', 'ARCHIVED', 'IN_PROCESS', 'WITH_ISSUES']
/** All statuses of each level. */
const STATUSES: Readonly<Record<ReaderInput['account']['level'], readonly string[]>> = {
  campaign: SHARED,
  adset: [...SHARED, 'CAMPAIGN_PAUSED'],
  ad: [
    ...SHARED,
    'CAMPAIGN_PAUSED',
    'ADSET_PAUSED',
    'PENDING_REVIEW',
    'DISAPPROVED',
    'PREAPPROVED',
    'PENDING_BILLING_INFO',
  ],
}

/** A reader of a Meta account. The token is sent in a header, because addresses end up in the logs of proxies. */
export function openMetaReader(
  { request, base, token, account: { external_id, level } }: ReaderInput,
  version: string,
): SpendReader {
  const call = async (path: string, query: Readonly<Record<string, string>>) =>
    dataOrThrow(
      await request(`${base}/${version}/act_${external_id}${path}`, query, { authorization: `Bearer ${token}` }),
    )
  return {
    async describe() {
      const { timezone_name, currency } = await call('', { fields: 'timezone_name,currency' })
      return { timezone: textField(timezone_name) ?? '', currency: textField(currency) ?? '' }
    },
    async *pagesOf(day) {
      const query = {
        level,
        fields: `spend,${level}_id,${level}_name`,
        time_range: JSON.stringify({ since: day, until: day }),
        time_increment: '1',
        breakdowns: HOURLY,
        filtering: JSON.stringify([{ field: `${level}.effective_status`, operator: 'IN', value: STATUSES[level] }]),
        limit: ROWS_OF_A_PAGE,
      }
      let after: string | undefined
      for (let page = 0; page < MOST_PAGES; page += 1) {
        const { data, paging } = await call('/insights', { ...query, ...(after !== undefined && { after }) })
        yield reportRows(data, 'data').map(row => rowOf(row, level, day))
        // The next page's address contains the token, so only its cursor is used.
        const { next, cursors } = fieldsOf(paging)
        const cursor = textField(fieldsOf(cursors)['after'])
        if (next === undefined || cursor === undefined) return
        if (cursor === after) break
        after = cursor
      }
      throw new SpendFault('unexpected_answer', 'its report has no last page')
    },
  }
}

function rowOf(row: Readonly<Record<string, unknown>>, level: string, day: string): HourSpend {
  if (row['date_start'] !== day)
    throw new SpendFault('unexpected_answer', `its report for ${day} has rows of another day`)
  return hourSpend({
    hour: textField(row[HOURLY]),
    external_id: row[`${level}_id`],
    name: row[`${level}_name`],
    amount: row['spend'],
  })
}

/** Error codes of an invalid or expired token. */
const TOKEN_CODES = new Set([102, 190, 2500])
/** Error codes of a missing permission of the token's owner or app. */
const PERMISSION_CODES = new Set([3, 10, 200, 272, 273, 275, 294])
/** Error codes of rate limits; 80000 is that of reports. */
const RATE_LIMIT_CODES = new Set([4, 17, 32, 613, 80_000, 80_003, 80_004])
/** The error of an account that does not exist or that the token cannot access. */
const NOT_FOUND = { code: 100, subcode: 33 }

function dataOrThrow({ status, body, headers }: PlatformAnswer): Readonly<Record<string, unknown>> {
  if (status >= 200 && status < 300 && body['error'] === undefined && Object.keys(body).length > 0) return body
  const error = fieldsOf(body['error'])
  const [code, subcode] = [Number(error['code']), Number(error['error_subcode'])]
  if (status === 429 || RATE_LIMIT_CODES.has(code))
    throw new SpendFault('rate_limited', metaMessage(error), waitIn(headers))
  if (TOKEN_CODES.has(code)) throw new SpendFault('token_refused', metaMessage(error))
  if (PERMISSION_CODES.has(code)) throw new SpendFault('permission_missing', metaMessage(error))
  if (code === NOT_FOUND.code && subcode === NOT_FOUND.subcode)
    throw new SpendFault('account_not_found', metaMessage(error))
  if (body['error'] === undefined || status >= 500 || error['is_transient'] === true)
    throw new SpendFault('unavailable', body['error'] === undefined ? `it answered HTTP ${status}` : metaMessage(error))
  throw new SpendFault('unexpected_answer', metaMessage(error))
}

function metaMessage({ code, error_subcode, message, error_user_msg }: Readonly<Record<string, unknown>>): string {
  const numbers = [code, error_subcode].filter(number => typeof number === 'number').join('/')
  const words = textField(error_user_msg) ?? textField(message) ?? 'no message'
  return `Meta ${numbers}: ${words}`
}

/** The longest wait of all use cases of the account, in milliseconds. Meta sends minutes. */
function waitIn(headers: PlatformAnswer['headers']): number | undefined {
  try {
    const uses = Object.values(fieldsOf(JSON.parse(String(headers['x-business-use-case-usage'])))).flat()
    const minutes = Math.max(...uses.map(use => Number(fieldsOf(use)['estimated_time_to_regain_access'] ?? 0)))
    return Number.isFinite(minutes) && minutes > 0 ? minutes * MINUTE_MS : undefined
  } catch {
    return undefined
  }
}
