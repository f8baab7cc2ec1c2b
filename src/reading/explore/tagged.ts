/**
 * Tags as a dimension: a click has the tags that its campaign, offer and landing have now. Its key is the list of them, so a click with two tags is
 * one row of the scan, which stands in the groups of both. Reads `campaigns`, `offers` and `landings`.
 */
import type pg from 'pg'
import type { ExploreDimension } from '../../contract/explore-dimensions.ts'
import { quoted } from './columns.ts'
import type { FilterValue } from './question.ts'

const TAGGED = ['campaign', 'offer', 'landing'] as const
type TaggedKind = (typeof TAGGED)[number]
/** The tags (ids) of each tagged object, by its id. */
export type TaggedObjects = Readonly<Record<TaggedKind, ReadonlyMap<string, readonly string[]>>>

export async function readTagged(reads: Pick<pg.Pool, 'query'>, org_id: number): Promise<TaggedObjects> {
  const tagsIn = async (kind: TaggedKind) => {
    const { rows } = await reads.query<{ id: string; tag_ids: string[] }>(
      `select id, tag_ids from ${kind}s where org_id = $1 and tag_ids <> '{}'`,
      [org_id],
    )
    return new Map(rows.map(({ id, tag_ids }) => [id, tag_ids]))
  }
  const [campaign, offer, landing] = await Promise.all(TAGGED.map(tagsIn))
  if (campaign === undefined || offer === undefined || landing === undefined) throw new Error('a kind was not read')
  return { campaign, offer, landing }
}

/** SQL of the rows of `from` with `tag`, the sorted list of their tags. `knows`: which objects the rows have. */
export function withTags(from: string, tagged: TaggedObjects, knows: (dimension: ExploreDimension) => boolean): string {
  const known = TAGGED.filter(kind => knows(kind) && tagged[kind].size > 0)
  const joins = known.map(kind => `left join ${relationOf(kind, tagged[kind])} on of_${kind}.id = f.${kind}`)
  const lists = known.map(kind => `coalesce(of_${kind}.tags, []::varchar[])`)
  const all = lists.reduce((before, list) => `list_concat(${before}, ${list})`, '[]::varchar[]')
  return `(select f.*, list_sort(list_distinct(${all})) as tag from ${from} f ${joins.join(' ')})`
}

const listOf = (ids: readonly string[]) => `[${ids.map(quoted).join(', ')}]`

const relationOf = (kind: TaggedKind, tags: ReadonlyMap<string, readonly string[]>) =>
  `(values ${[...tags].map(([id, ids]) => `(${quoted(id)}, ${listOf(ids)})`).join(', ')}) of_${kind}(id, tags)`

/** SQL of whether the list has one of these tags; null names having none. */
export function hasTagAmong(list: string, values: readonly FilterValue[]): string {
  const ids = values.filter(value => value !== null).map(String)
  const named = ids.length === 0 ? 'false' : `list_has_any(${list}, ${listOf(ids)})`
  return ids.length < values.length ? `(${named} or len(${list}) = 0)` : named
}

/** SQL of a row for each tag of the list; without tags, one row with null. */
export const eachTag = (list: string): string => `unnest(case when len(${list}) = 0 then [null] else ${list} end)`

/** SQL of whether rows `f` with the list belong to the group `up` of a tag. */
export const isOfTag = (list: string): string => `(list_contains(${list}, up.k) or (up.k is null and len(${list}) = 0))`
