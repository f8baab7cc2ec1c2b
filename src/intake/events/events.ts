/**
 * Events: what a click has come to. The heart of Sluice: `recordConversion` is the one way in for senders, the queue behind it the one
 * writer. Owns `events` and `event_aliases`. An event, once recorded, is answered for ever and never recorded again.
 */
import type { Call } from '../../contract/endpoint.ts'
import { pageOf } from '../../contract/paging.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'
import type { Conversions } from './conversions.ts'
import { readConversion } from './intake.ts'
import type { Source } from './items.ts'
import type { StoredEvent } from './known.ts'
import { EVENT_COLUMNS } from './reads.ts'

type Logged = StoredEvent & { source: Source; test: boolean }

// The cursor is the id of the last event shown; its place in time is looked up, because an event's id holds none. Bounds that are always
// there, if only at infinity, are looked up in the index too.
const LIST = `
  select ${EVENT_COLUMNS}, e.source, e.test
  from events e
  where e.org_id = $1
    and ($2::uuid is null or e.click_id = $2)
    and ($3::text is null or e.type = $3)
    and ($4::uuid is null or e.campaign_id = $4)
    and e.created_at >= coalesce($6::timestamptz, '-infinity') and e.created_at < coalesce($7::timestamptz, 'infinity')
    and ($5::uuid is null or (e.created_at, e.id) < (select created_at, id from events where org_id = $1 and id = $5))
  order by e.created_at desc, e.id desc
  limit $8`

/** The deeds of the room, on the queue that the process runs. */
export function eventDeeds(conversions: Pick<Conversions, 'record'>) {
  return {
    /** Answers the event's row; a resend's with `Idempotent-Replayed: true`. */
    async recordConversion(context: Context<typeof api.recordConversion>, { body }: Call<typeof api.recordConversion>) {
      const { actor, idempotency_key, arrived_at } = context
      const { org_id } = actor
      const from =
        actor.kind === 'key'
          ? { source: 'api' as const, campaigns: actor.campaigns, key: actor }
          : { source: 'dashboard' as const, campaigns: null, key: undefined }
      const conversion = readConversion(body, { org_id, ...from, idempotency_key, arrived_at })
      const { event, replayed } = await conversions.record(conversion)
      if (replayed) context.header('idempotent-replayed', 'true')
      return event
    },

    async listEvents({ database, actor }: Context<typeof api.listEvents>, { query }: Call<typeof api.listEvents>) {
      const {
        click_id = null,
        type = null,
        campaign_id = null,
        date_from = null,
        date_to = null,
        cursor = null,
        limit,
      } = query
      const { rows } = await database.reads.query<Logged>(LIST, [
        actor.org_id,
        click_id,
        type,
        campaign_id,
        cursor,
        date_from,
        date_to,
        limit + 1,
      ])
      return pageOf(rows, limit)
    },
  }
}
