/** Finds clicks that earned an offer's payout with two types of conversions, and offers whose payout was never earned. Reads `events`. */

import { DAY_MS } from '../../contract/days.ts'
import type { Call } from '../../contract/endpoint.ts'
import { EVENT_TYPES, type EventType } from '../../contract/event-types.ts'
import type { Context } from '../../ground/room.ts'
import * as api from './api.ts'
import { readOffer } from './offers.ts'

const LOOKED_BACK_MS = 30 * DAY_MS

/**
 * Counts the clicks of the last 30 days on which more than one type of conversion earned the offer's payout; and, if no conversion had a payout,
 * the offer's conversions by type. There is no index by offer, so the newest conversions of the organization are searched, up to MOST_LOOKED_AT.
 * Refuses `object_not_found`.
 */
export async function readRepeatedPayouts(
  context: Context<typeof api.readRepeatedPayouts>,
  { params }: Call<typeof api.readRepeatedPayouts>,
) {
  const { database, actor } = context
  const offer = await readOffer(context, { params } as Call<typeof api.readOffer>)
  const since = new Date(Date.now() - LOOKED_BACK_MS).toISOString()
  const { rows } = await database.reads.query<Found>(
    `with looked as materialized (
      select click_id, offer_id, type, payout, payout_is_explicit, test, created_at from events
      where org_id = $1 and created_at >= $2 order by created_at desc, id desc limit $4
    ), own as (
      select type, count(*) as conversions, count(*) filter (where payout > 0) as paid from looked
      where offer_id = $3 and not test group by type
    ), unearned as (
      select json_agg(json_build_object('type', type, 'conversions', conversions) order by conversions desc, type) as types from own
      having sum(paid) = 0
    ), repeated as (
      select array_agg(distinct type) as types from looked
      where offer_id = $3 and not payout_is_explicit and payout > 0 and not test
      group by click_id having count(distinct type) > 1
    )
    select all_of.looked, all_of.oldest, counted.types, counted.clicks, (select types from unearned) as unearned
    from (select count(*) as looked, min(created_at) as oldest from looked) all_of
      left join (select types, count(*) as clicks from repeated group by types) counted on true
    order by counted.clicks desc, counted.types`,
    [actor.org_id, since, offer.id, api.MOST_CONVERSIONS_READ],
  )
  const [first] = rows
  const isCut = Number(first?.looked) === api.MOST_CONVERSIONS_READ
  const together = rows.flatMap(({ types, clicks }) =>
    types === null ? [] : [{ types: EVENT_TYPES.filter(type => types.includes(type)), clicks: Number(clicks) }],
  )
  return {
    from: isCut ? (first?.oldest ?? since) : since,
    clicks: together.reduce((sum, { clicks }) => sum + clicks, 0),
    together,
    unearned: offer.payout === null ? [] : (first?.unearned ?? []),
  }
}

/** `looked`, `oldest` and `unearned` are equal in all rows. `types` is null in the only row if no payout was earned twice. */
type Found = {
  looked: string
  oldest: string | null
  types: EventType[] | null
  clicks: string | null
  unearned: { type: EventType; conversions: number }[] | null
}
