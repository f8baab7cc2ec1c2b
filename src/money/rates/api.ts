/** Rates over HTTP: what currencies are worth in US dollars, by sources and by the workspace's own word. No right covers it: a key is refused here. */
import { z } from 'zod'
import { Currency } from '../../contract/currencies.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { Id, Instant, isFaithful } from '../../contract/fields.ts'

const EARLIEST_DAY = '2000-01-01'
const Day = z.iso
  .date()
  .refine(day => day >= EARLIEST_DAY, { message: `must be ${EARLIEST_DAY} or later` })
  .meta({ description: 'UTC day, YYYY-MM-DD', examples: ['2026-03-01'] })

/** Up to a billion, and down to what a unit of the smallest money is worth. */
const PLAIN = /^\d{1,9}(\.\d{1,18})?$/
export const UsdPerUnit = z
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
    rate_day: z.string().meta({ description: 'The day the rate is of; of an own rate, the day it holds from' }),
    rate_source: RateSource,
  })
  .meta({ id: 'DayRate' })
export type DayRate = z.output<typeof DayRate>

/** An own rate. Rows are only added: of one day the latest saved holds, and each until the one of a later day. */
export const OwnRate = z
  .object({
    id: Id,
    currency: z.string(),
    from_day: z.string(),
    usd_per_unit: z.string().nullable().meta({ description: 'null: from this day the sources’ rates again' }),
    note: z.string().nullable(),
    actor: z.object({ id: Id, name: z.string().nullable() }).meta({ description: 'Who saved it' }),
    created_at: Instant,
  })
  .meta({ id: 'OwnRate' })
export type OwnRate = z.output<typeof OwnRate>

export const listRates = endpoint({
  route: 'GET /api/rates',
  access: { session: 'member' },
  summary: 'List the rates that hold on a UTC day',
  description:
    'What something received on that day is booked by: the latest rate of a day before it, at most seven days old, or an own rate. Without a ' +
    'day: today. A currency that is not listed has no rate, and what comes in it is refused.',
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
            .meta({ description: 'False: nothing in another currency is there yet, so nobody was asked' }),
          fetched_at: Instant.nullable(),
          newest_day: z.string().nullable(),
          error: z.string().nullable().meta({ description: 'What went wrong the last time' }),
        }),
      )
      .meta({ description: 'The sources that are set, in the order they are believed; none with FX_SOURCES=off' }),
  }),
})

export const setOwnRate = endpoint({
  route: 'PUT /api/rates/:currency',
  access: { session: 'admin' },
  summary: 'Set an own rate of a currency',
  description:
    'Goes before the sources’ rates from its day until the own rate of a later day, for what is booked after it was saved; what is booked stays ' +
    'as it is. Nothing is overwritten: each rate is kept with who saved it. null gives the currency back to the sources.',
  body: z.object({
    from_day: Day,
    usd_per_unit: UsdPerUnit.nullable(),
    note: z
      .string()
      .trim()
      .max(200)
      .refine(isFaithful, { message: 'must hold no characters that cannot be stored' })
      .nullish(),
  }),
  reply: OwnRate,
})

/** What a path's currency has to be. */
export const CurrencyOfPath = Currency
