/**
 * Clicks made while their campaign was paused or archived. They are stored untracked, and marked by a path that no click flow has. Every version
 * of Sluice writes that column and reads it from a journal, so the mark survives an outage after which an older process replays the
 * journal. Reads `campaigns` and `clicks`.
 */
import { sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { timeOfId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Answer, Context } from '../../ground/room.ts'
import { idOf } from '../../ground/room.ts'
import type * as api from './api.ts'

/** The path of a click that counts but for its paused campaign. Paths through flows begin with a version number. */
export const PAUSED_PATH = 'paused'

const messagePage = (title: string, text: string): Answer => ({
  status: 200,
  headers: {
    'cache-control': 'no-store',
    'content-type': 'text/html; charset=utf-8',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'x-robots-tag': 'noindex',
  },
  body: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`,
})

/** For a paused campaign without a fallback. Not 404, because ad platforms check the URLs of ads. */
export const CLOSED: Answer = messagePage('This offer is closed', 'Thank you for your interest.')

/** For a channel without an invite link and without a public address, if the campaign has no fallback. */
export const COME_BACK: Answer = messagePage(
  'One moment, please',
  'The channel cannot be opened right now. Come back in a few minutes.',
)

/** Counts the visitors who came while the campaign was paused or archived, without bots and tests. Refuses `object_not_found`. */
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
    // The same text as in the partial index, so that the planner uses it.
    .where(sql<boolean>`click_flow_node_path = 'paused'`)
  const counted = await while_paused.select(sql<number>`count(*)::int`.as('clicks')).executeTakeFirstOrThrow()
  const last = await while_paused.select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  return { clicks: counted.clicks, last_at: last === undefined ? null : new Date(timeOfId(last.id)).toISOString() }
}
