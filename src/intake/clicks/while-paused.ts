/**
 * Clicks made while their campaign was paused or archived. They are stored untracked, under a path that no click flow has: of a click's
 * columns it is one that every version writes and reads back from a journal, so the mark outlives an outage and a process of the version
 * before that drains it. Reads `campaigns` and `clicks`.
 */
import { sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { timeOfId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Answer, Context } from '../../ground/room.ts'
import { idOf } from '../../ground/room.ts'
import type * as api from './api.ts'

/** The path of a click that would have counted, had its campaign taken traffic. Paths through flows begin with a version. */
export const PAUSED_PATH = 'paused'

const saying = (title: string, text: string): Answer => ({
  status: 200,
  headers: {
    'cache-control': 'no-store',
    'content-type': 'text/html; charset=utf-8',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'x-robots-tag': 'noindex',
  },
  body: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`,
})

/** Where there is no fallback. Not 404: ad platforms and networks check the addresses of ads. */
export const CLOSED: Answer = saying('This offer is closed', 'Thank you for your interest.')

/** Where a channel has no link left, no address of its own, and its campaign no fallback. */
export const COME_BACK: Answer = saying(
  'One moment, please',
  'The channel cannot be opened just now. Come back in a few minutes.',
)

/** How many visitors came while the campaign was paused or archived, bots and tests not among them. Refuses `object_not_found`. */
export async function readClicksWhilePaused(
  { db, actor }: Context<typeof api.readClicksWhilePaused>,
  { params }: Call<typeof api.readClicksWhilePaused>,
) {
  const id = idOf(params.id)
  const campaign = await db
    .selectFrom('campaigns')
    .select('id')
    .where('org_id', '=', actor.org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (campaign === undefined) refuse('object_not_found')
  const while_paused = db
    .selectFrom('clicks')
    .where('org_id', '=', actor.org_id)
    .where('campaign_id', '=', id)
    // As the index says it.
    .where(sql<boolean>`click_flow_node_path = 'paused'`)
  const counted = await while_paused.select(sql<number>`count(*)::int`.as('clicks')).executeTakeFirstOrThrow()
  const last = await while_paused.select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  return { clicks: counted.clicks, last_at: last === undefined ? null : new Date(timeOfId(last.id)).toISOString() }
}
