/** What Explore breaks clicks down by and filters them by, and how a filter compares. */
import { SUBS } from './fields.ts'

/** Of the clock: by the asked time zone. Keys: YYYY-MM-DD, 00 to 23, 1 (Monday) to 7, and 1-00 to 7-23. */
export const TIME_DIMENSIONS = ['day', 'hour', 'weekday', 'weekday_hour'] as const
/** Of objects of the organization: keys are ids, labels their names. Source and funnel are those that the campaign has now. */
const OBJECT_DIMENSIONS = ['campaign', 'offer', 'landing', 'source', 'funnel', 'ad_account', 'bot'] as const
/** Texts as they came with the click. `path`: the version of a click flow and the nodes that led to the goal. */
export const TEXT_DIMENSIONS = ['path', 'geo', 'device', 'os', 'browser', 'platform', ...SUBS, 'ref_id'] as const
/** Of few words: `is_new` is true or false, `status` the highest stage reached. */
const WORD_DIMENSIONS = ['is_new', 'status'] as const

export const EXPLORE_DIMENSIONS = [
  ...TIME_DIMENSIONS,
  ...OBJECT_DIMENSIONS,
  ...TEXT_DIMENSIONS,
  ...WORD_DIMENSIONS,
] as const
export type ExploreDimension = (typeof EXPLORE_DIMENSIONS)[number]
type TimeDimension = (typeof TIME_DIMENSIONS)[number]
export type ObjectDimension = (typeof OBJECT_DIMENSIONS)[number]
type TextDimension = (typeof TEXT_DIMENSIONS)[number]

const among =
  <T extends string>(names: readonly T[]) =>
  (dimension: string) =>
    (names as readonly string[]).includes(dimension)
export const isTimeDimension = among(TIME_DIMENSIONS) as (dimension: string) => dimension is TimeDimension
export const isObjectDimension = among(OBJECT_DIMENSIONS) as (dimension: string) => dimension is ObjectDimension
export const isTextDimension = among(TEXT_DIMENSIONS) as (dimension: string) => dimension is TextDimension

/** With one value: is, is_not. With up to 200: in, not_in, contains and not_contains (any of them, whatever the case). With none: the last two. */
export const OPERATORS = ['is', 'is_not', 'in', 'not_in', 'contains', 'not_contains', 'is_empty', 'is_filled'] as const
export type Operator = (typeof OPERATORS)[number]

/** The operators that a dimension takes. A missing value is none of those named: is_not, not_in and not_contains let it through. */
export function operatorsOf(dimension: ExploreDimension): readonly Operator[] {
  if (isTextDimension(dimension)) return OPERATORS
  const named = ['is', 'is_not', 'in', 'not_in'] as const
  return isObjectDimension(dimension) ? [...named, 'is_empty', 'is_filled'] : named
}
