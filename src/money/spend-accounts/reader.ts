/** The interface of a platform's reports, the same for every platform. */
import { fieldsOf } from '../../contract/json.ts'
import type { SpendAccount } from './api.ts'

export type SpendFaultCode = NonNullable<SpendAccount['fault']>['code']

/** Faults that may pass with time; the others need a person. */
export const PASSING_FAULTS: readonly SpendFaultCode[] = [
  'rate_limited',
  'unavailable',
  'unexpected_answer',
  'rate_unknown',
]

/** Why an account could not be read. `words` are for people and contain no token; `wait_ms` is the wait the platform asks for. */
export class SpendFault extends Error {
  readonly code: SpendFaultCode
  readonly wait_ms: number | undefined

  constructor(code: SpendFaultCode, words: string, wait_ms?: number) {
    super(words)
    this.code = code
    this.wait_ms = wait_ms
  }

  get isPassing(): boolean {
    return PASSING_FAULTS.includes(this.code)
  }
}

/** The spend of an id in an hour of the account's time zone, in the account's currency. */
export type HourSpend = {
  readonly hour: number
  readonly external_id: string
  readonly name: string
  readonly amount: string
}

export type SpendReader = {
  /** The account's time zone and billing currency. */
  describe(): Promise<{ timezone: string; currency: string }>
  /** The spend of a day of the account's time zone, page by page. */
  pagesOf(day: string): AsyncGenerator<readonly HourSpend[]>
}

/** An HTTP answer. `body` is empty if it was not a JSON object. */
export type PlatformAnswer = {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** Requests an address with a query and headers. @throws SpendFault `unavailable` without an answer. */
export type RequestPlatform = (
  url: string,
  query: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
) => Promise<PlatformAnswer>

export type ReaderInput = {
  readonly request: RequestPlatform
  readonly base: string
  readonly token: string
  readonly account: Pick<SpendAccount, 'external_id' | 'level'>
}

/** The most pages of one day; more mean that the platform repeats pages. */
export const MOST_PAGES = 2000

/** The objects of a list. @throws SpendFault if it is not a list. */
export function reportRows(value: unknown, name: string): Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) throw new SpendFault('unexpected_answer', `its answer has no ${name}`)
  return value.map(fieldsOf)
}

export const textField = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined

/** Larger amounts mean that the answer was misread. */
const AMOUNT = /^\d{1,12}(\.\d{1,9})?$/

/** Checks a row of a report. @throws SpendFault if it has no hour, id or amount. */
export function hourSpend(row: {
  hour: string | undefined
  external_id: unknown
  name: unknown
  amount: unknown
}): HourSpend {
  const hour = /^(\d\d):00:00/.exec(row.hour ?? '')?.[1]
  const external_id = textField(row.external_id)
  const amount = textField(row.amount) ?? '0'
  if (hour === undefined || Number(hour) > 23 || external_id === undefined || !AMOUNT.test(amount))
    throw new SpendFault('unexpected_answer', 'a row of its report has no hour, no id or no amount')
  return {
    hour: Number(hour),
    external_id: external_id.slice(0, 100),
    name: (textField(row.name) ?? '').slice(0, 200),
    amount,
  }
}
