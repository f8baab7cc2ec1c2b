/** Rates over HTTP: the values of currencies in US dollars, by sources and by the workspace's own rates. Sessions only: no right of keys covers these routes. */
import { z } from 'zod'
import { Currency } from '../../contract/currencies.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { Id, Instant, isFaithful } from '../../contract/fields.ts'

const EARLIEST_DAY = '2000-01-01'
const Day = z.iso
  .date()
  .refine(day => day >= EARLIEST_DAY, { message: `must be ${EARLIEST_DAY} or later` })
  .meta({ description: 'UTC day, YYYY-MM-DD', examples: ['2026-03-01'] })

/** Below a billion, and small enough for a unit of the weakest currency. */
const PLAIN = /^\d{1,9}(\.\d{1,18})?$/
export const RateInUsd = z
  .string({ error: 'must be a decimal string, such as 1.08' })
  .trim()
  .refine(text => PLAIN.test(text) && /[1-9]/.test(text), {
    message: 'must be a decimal above zero, such as 1.08, with at most 18 decimals',
  })
  .meta({ description: 'US dollars for one unit, a decimal string', examples: ['1.08'] })

const RateSource = z.enum(['ecb', 'cbr', 'openexchangerates', 'import', 'own']).meta({
  description:
    'ecb: European Central Bank; cbr: Bank of Russia; import: a file of the operator; own: the workspace’s own rate',
})
export type RateSource = z.output<typeof RateSource>

export const DayRate = z
  .object({
    currency: z.string(),
    usd_per_unit: z.string().meta({ description: 'US dollars for one unit, a decimal string' }),
    rate_day: z.string().meta({ description: 'The day of the rate; of an own rate, the day it applies from' }),
    rate_source: RateSource,
  })
  .meta({ id: 'DayRate' })
export type DayRate = z.output<typeof DayRate>

/** An own rate. Rows are only added: the latest saved of a day applies, until the own rate of a later day. */
export const OwnRate = z
  .object({
    id: Id,
    currency: z.string(),
    from_day: z.string(),
    usd_per_unit: z.string().nullable().meta({ description: 'null: the sources’ rates apply again from this day' }),
    note: z.string().nullable(),
    actor: z.object({ id: Id, name: z.string().nullable() }).meta({ description: 'Who saved it' }),
    created_at: Instant,
  })
  .meta({ id: 'OwnRate' })
export type OwnRate = z.output<typeof OwnRate>

export const listRates = endpoint({
  route: 'GET /api/rates',
  access: { session: 'member' },
  summary: 'List the rates that apply to a UTC day',
  description:
    'Amounts received on that day are converted at these rates: an own rate, or else the latest rate of an earlier day, at most seven days old. Without a ' +
    'day: today. Amounts in a currency that is not listed are refused.',
  query: z.object({ day: Day.optional() }),
  reply: z.object({
    day: z.string(),
    rates: z.array(DayRate),
    own: z.array(OwnRate).meta({ description: 'All own rates, the latest saved first' }),
    sources: z
      .array(
        z.object({
          source: RateSource,
          asked: z
            .boolean()
            .meta({ description: 'False: rates have not been fetched, because nothing uses another currency yet' }),
          fetched_at: Instant.nullable(),
          newest_day: z.string().nullable(),
          error: z.string().nullable().meta({ description: 'The error of the last fetch' }),
        }),
      )
      .meta({ description: 'The sources in use, by precedence; empty with FX_SOURCES=off' }),
  }),
})

export const setOwnRate = endpoint({
  route: 'PUT /api/rates/:currency',
  access: { session: 'admin' },
  history: 'rate',
  summary: 'Set an own rate of a currency',
  description:
    'Overrides the sources’ rates from its day until the own rate of a later day, for amounts booked after it was saved. Booked amounts do not ' +
    'change. Each own rate is kept with the member who saved it. null makes the sources’ rates apply again.',
  body: z.object({
    from_day: Day,
    usd_per_unit: RateInUsd.nullable(),
    note: z
      .string()
      .trim()
      .max(200)
      .refine(isFaithful, { message: 'must not contain characters that cannot be stored' })
      .nullish(),
  }),
  reply: OwnRate,
})

/** The schema of the currency in the path. */
export const CurrencyOfPath = Currency
