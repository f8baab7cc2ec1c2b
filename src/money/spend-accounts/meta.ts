/**
 * Meta's Ads Insights: spend by ad (ad set, campaign) and hour of the account's zone. Objects that were deleted since are asked for by name, because
 * a report of the account by ads leaves them out, and their money with them.
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

const HOURLY = 'hourly_stats_aggregated_by_advertiser_time_zone'
const ROWS_OF_A_PAGE = '500'

const SHARED = ['ACTIVE', 'PAUSED', 'DELETED', 'ARCHIVED', 'IN_PROCESS', 'WITH_ISSUES']
/** Every status there is, by level. */
const STATUSES: Readonly<Record<Reading['account']['level'], readonly string[]>> = {
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

/** Reads an account. The token travels in a header: addresses end up in the logs of proxies. */
export function readerOfMeta(
  { ask, base, token, account: { external_id, level } }: Reading,
  version: string,
): SpendReader {
  const call = async (path: string, query: Readonly<Record<string, string>>) =>
    judged(await ask(`${base}/${version}/act_${external_id}${path}`, query, { authorization: `Bearer ${token}` }))
  return {
    async describe() {
      const { timezone_name, currency } = await call('', { fields: 'timezone_name,currency' })
      return { timezone: textOf(timezone_name) ?? '', currency: textOf(currency) ?? '' }
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
        yield rowsOf(data, 'data').map(row => rowOf(row, level, day))
        // The address of the next page holds the token: only its cursor is taken.
        const { next, cursors } = fieldsOf(paging)
        const cursor = textOf(fieldsOf(cursors)['after'])
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
    throw new SpendFault('unexpected_answer', `it was asked for ${day} and told of another day`)
  return hourSpend({
    hour: textOf(row[HOURLY]),
    external_id: row[`${level}_id`],
    name: row[`${level}_name`],
    amount: row['spend'],
  })
}

/** Codes of a token that is no good any more. */
const DEAD = new Set([102, 190, 2500])
/** Codes of a right that the token's owner or app has not got. */
const FORBIDDEN = new Set([3, 10, 200, 272, 273, 275, 294])
/** Codes of asking too often; 80000 is that of reports. */
const TOO_OFTEN = new Set([4, 17, 32, 613, 80_000, 80_003, 80_004])
/** An account that is not there, or that the token does not reach. */
const MISSING = { code: 100, subcode: 33 }

function judged({ status, body, headers }: Answer): Readonly<Record<string, unknown>> {
  if (status >= 200 && status < 300 && body['error'] === undefined && Object.keys(body).length > 0) return body
  const error = fieldsOf(body['error'])
  const [code, subcode] = [Number(error['code']), Number(error['error_subcode'])]
  if (status === 429 || TOO_OFTEN.has(code)) throw new SpendFault('rate_limited', wordsOf(error), waitOf(headers))
  if (DEAD.has(code)) throw new SpendFault('token_refused', wordsOf(error))
  if (FORBIDDEN.has(code)) throw new SpendFault('permission_missing', wordsOf(error))
  if (code === MISSING.code && subcode === MISSING.subcode) throw new SpendFault('account_not_found', wordsOf(error))
  if (body['error'] === undefined || status >= 500 || error['is_transient'] === true)
    throw new SpendFault('unavailable', body['error'] === undefined ? `it answered with ${status}` : wordsOf(error))
  throw new SpendFault('unexpected_answer', wordsOf(error))
}

function wordsOf({ code, error_subcode, message, error_user_msg }: Readonly<Record<string, unknown>>): string {
  const numbers = [code, error_subcode].filter(number => typeof number === 'number').join('/')
  const words = textOf(error_user_msg) ?? textOf(message) ?? 'no words'
  return `Meta ${numbers}: ${words}`
}

/** The longest time any use case of the account has to wait, which Meta tells in minutes. */
function waitOf(headers: Answer['headers']): number | undefined {
  try {
    const uses = Object.values(fieldsOf(JSON.parse(String(headers['x-business-use-case-usage'])))).flat()
    const minutes = Math.max(...uses.map(use => Number(fieldsOf(use)['estimated_time_to_regain_access'] ?? 0)))
    return Number.isFinite(minutes) && minutes > 0 ? minutes * 60_000 : undefined
  } catch {
    return undefined
  }
}
