/** Explore's answers: rows of measures, and the values that a filter may name. Shared by the screen and the routes. */
import { z } from 'zod'
import './words.ts'
import { EventType } from './event-types.ts'
import {
  COUNT_MEASURES,
  EVENT_COUNTS,
  EVENT_REVENUES,
  MONEY_MEASURES,
  SHARE_MEASURES,
  UNIQUE_VISITORS,
  UNIT_MEASURES,
} from './explore-measures.ts'
import { Instant, Money } from './fields.ts'
import { type FigureKey, figureOf } from './figures.ts'

const fields = <const Names extends readonly FigureKey[], T extends z.ZodType>(names: Names, schema: T) =>
  Object.fromEntries(
    names.map(name => [name, schema.optional().meta({ description: figureOf(name).means })]),
  ) as Record<Names[number], z.ZodOptional<T>>

/** Only the measures that were asked for. */
const measured = {
  ...fields(COUNT_MEASURES, z.int()),
  ...fields(MONEY_MEASURES, Money),
  ...fields(['cost', 'profit'], Money.nullable()),
  ...fields(UNIT_MEASURES, Money.nullable()),
  ...fields(SHARE_MEASURES, z.number().nullable()),
  ...fields(EVENT_COUNTS, z.int()),
  ...fields(EVENT_REVENUES, Money.nullable()),
  unique_visitors: z
    .int()
    .nullable()
    .optional()
    .meta({ description: `${figureOf(UNIQUE_VISITORS).means} null: the window has days before emptied_before` }),
}
export const ExploreMeasures = z.object(measured).meta({ id: 'ExploreMeasures' })
export type ExploreMeasures = z.output<typeof ExploreMeasures>

const row = {
  key: z.string().nullable().meta({
    description:
      'null: clicks without a value, and the row other. An empty text: spend without clicks, whose value in this dimension is unknown; this row is last before other in every order',
  }),
  label: z.string().meta({ description: 'Name, else the key; (none) without a value' }),
  is_other: z.boolean().meta({ description: 'True: the sum of all keys without a row of their own; it comes last' }),
  count_of_other: z.int().optional().meta({ description: 'For other: the number of its keys' }),
  ...measured,
  before: ExploreMeasures.optional().meta({ description: 'With compare: the period before' }),
}

export type ExploreRow = z.output<z.ZodObject<typeof row>> & { children?: ExploreRow[] | undefined }
export const ExploreRow: z.ZodType<ExploreRow, ExploreRow> = z
  .object({
    ...row,
    get children() {
      return z.array(ExploreRow).optional()
    },
  })
  .meta({ id: 'ExploreRow' })

export const ExploreAnswer = z
  .object({
    window: z.object({ from: Instant, to: Instant }),
    window_before: z.object({ from: Instant, to: Instant }).optional(),
    time_zone: z.string(),
    rows: z.array(ExploreRow),
    totals: ExploreMeasures.extend({ before: ExploreMeasures.optional() }).meta({
      description: 'Over all clicks that match the filters (and having and within)',
    }),
    totals_without_having: ExploreMeasures.extend({ before: ExploreMeasures.optional() }).optional().meta({
      description: 'With filters on figures: over all clicks that match the other filters',
    }),
    distinct: z.array(z.int()).meta({
      description:
        'For each level asked for (with within, only the next one): the number of its keys below the shown rows of the level above',
    }),
    unique_visitors_is_estimate: z.boolean(),
    event_types: z.array(EventType).meta({
      description: 'The event types that occurred in the window; only their columns can have values above 0',
    }),
    counted_at: Instant,
    incomplete_days: z.array(z.iso.date()).meta({ description: 'UTC days whose clicks are not all in this answer' }),
    emptied_before: z.iso.date().nullable().meta({
      description:
        'The clicks of UTC days before this one are no longer kept. They still count, but ref_id, and each sub with a different value for nearly every click, have no value there; null if all clicks are kept',
    }),
    took_ms: z.int(),
  })
  .meta({ id: 'ExploreAnswer' })
export type ExploreAnswer = z.output<typeof ExploreAnswer>

/** GET /api/explore/values: the values that a filter may name. */
export const ExploreValues = z
  .object({
    values: z.array(
      z.object({
        key: z.string(),
        label: z.string(),
        clicks: z
          .int()
          .nullable()
          .meta({ description: 'In the window; null for values that are the same in every workspace' }),
      }),
    ),
  })
  .meta({ id: 'ExploreValues' })
export type ExploreValues = z.output<typeof ExploreValues>
