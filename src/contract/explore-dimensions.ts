/** Explore's dimensions, for levels and filters, and the operators of filters. */
import { SUBS } from './fields.ts'

/** In the time zone of the question. Keys: YYYY-MM-DD, 00 to 23, 1 (Monday) to 7, and 1-00 to 7-23. */
export const TIME_DIMENSIONS = ['day', 'hour', 'weekday', 'weekday_hour'] as const
/**
 * Objects of the organization: keys are ids, labels their names. Source and funnel are the campaign's current ones. A click has the current tags of
 * its campaign, offer and landing, and is in the row of each.
 */
const OBJECT_DIMENSIONS = ['campaign', 'offer', 'landing', 'source', 'funnel', 'tag', 'ad_account', 'bot'] as const
/** Texts of the link, which may have any number of values. */
export const LINK_DIMENSIONS = [...SUBS, 'ref_id'] as const
/** Texts of the click. `path`: the version of a click flow and the nodes that led to the goal. */
export const TEXT_DIMENSIONS = ['path', 'geo', 'device', 'os', 'browser', 'platform', ...LINK_DIMENSIONS] as const
/** Dimensions with a fixed list of keys: `is_new` and `is_left_out` are true or false, `status` the highest stage reached, `way` redirect or page. */
const WORD_DIMENSIONS = ['is_new', 'status', 'way', 'is_left_out'] as const
export const WAYS = ['redirect', 'page'] as const
export const YES_OR_NO = ['true', 'false'] as const

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

/** is and is_not take one value; in, not_in, contains and not_contains take up to 200 (any of them, ignoring case); the last two take none. */
export const OPERATORS = ['is', 'is_not', 'in', 'not_in', 'contains', 'not_contains', 'is_empty', 'is_filled'] as const
export type Operator = (typeof OPERATORS)[number]

/** The operators of a dimension. A missing value equals no named one, so is_not, not_in and not_contains match it. */
export function operatorsOf(dimension: ExploreDimension): readonly Operator[] {
  if (isTextDimension(dimension)) return OPERATORS
  const named = ['is', 'is_not', 'in', 'not_in'] as const
  return isObjectDimension(dimension) ? [...named, 'is_empty', 'is_filled'] : named
}
