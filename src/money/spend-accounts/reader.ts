/** What is asked of a platform's reports and what it may answer, in words that are the same for every platform. */
import { fieldsOf } from '../../contract/json.ts'
import type { SpendAccount } from './api.ts'

export type Fault = NonNullable<SpendAccount['fault']>['code']

/** Faults that time heals; the others wait for a person. */
const PASSING: readonly Fault[] = ['rate_limited', 'unavailable', 'unexpected_answer', 'rate_unknown']

/** Why an account could not be read. `words` are for people and hold no token; `wait_ms` is what the platform asks for. */
export class SpendFault extends Error {
  readonly code: Fault
  readonly wait_ms: number | undefined

  constructor(code: Fault, words: string, wait_ms?: number) {
    super(words)
    this.code = code
    this.wait_ms = wait_ms
  }

  get isPassing(): boolean {
    return PASSING.includes(this.code)
  }
}

/** What an id has cost in an hour of a day of the account's zone, in the account's currency. */
export type HourSpend = {
  readonly hour: number
  readonly external_id: string
  readonly name: string
  readonly amount: string
}

export type SpendReader = {
  /** The zone and the currency the account bills by. */
  describe(): Promise<{ timezone: string; currency: string }>
  /** Page by page what was spent on a day of the account's zone. */
  pagesOf(day: string): AsyncGenerator<readonly HourSpend[]>
}

/** An answer: `body` has no fields where it was no JSON object. */
export type Answer = {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** Asks an address with a query and headers. @throws SpendFault `unavailable` where no answer comes. */
export type Ask = (
  url: string,
  query: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
) => Promise<Answer>

export type Reading = {
  readonly ask: Ask
  readonly base: string
  readonly token: string
  readonly account: Pick<SpendAccount, 'external_id' | 'level'>
}

/** Pages of one day; more are a platform that leads round in a circle. */
export const MOST_PAGES = 2000

/** A list's objects, or a fault where it is none. */
export function rowsOf(value: unknown, name: string): Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) throw new SpendFault('unexpected_answer', `its answer has no ${name}`)
  return value.map(fieldsOf)
}

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined

/** More than this an hour of an ad has never cost: an answer that was misread. */
const AMOUNT = /^\d{1,12}(\.\d{1,9})?$/

/** A row of a report. A day of this account was asked for, so what is of another is not booked as if it were. */
export function hourSpend(row: {
  hour: string | undefined
  external_id: unknown
  name: unknown
  amount: unknown
}): HourSpend {
  const hour = /^(\d\d):00:00/.exec(row.hour ?? '')?.[1]
  const external_id = textOf(row.external_id)
  const amount = textOf(row.amount) ?? '0'
  if (hour === undefined || Number(hour) > 23 || external_id === undefined || !AMOUNT.test(amount))
    throw new SpendFault('unexpected_answer', 'a row of its report has no hour, no id or no amount')
  return {
    hour: Number(hour),
    external_id: external_id.slice(0, 100),
    name: (textOf(row.name) ?? '').slice(0, 200),
    amount,
  }
}
