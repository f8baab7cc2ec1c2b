/**
 * Cleans up invite links. Links held by a dead process are lost: no click gets them. Free batches that have expired are dead. Batches, and links that no
 * click has, are deleted 60 days after they expired. Telegram is not called.
 */
import { MINUTE_MS } from '../../contract/days.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'

const ABANDONED = (among: Among) => `
  select b.org_id from link_batches b
  where b.org_id > $1 and b.state = 'leased' and b.lease_until < now()${among('b.org_id')}
  order by b.org_id limit 1`
const LOSE = `
  update link_batches set state = 'lost', leased_by = null, lease_until = null
  where org_id = $1 and state = 'leased' and lease_until < now()`

const OVER = (among: Among) => `
  select b.org_id from link_batches b
  where b.org_id > $1 and b.state = 'free' and b.expires_at < now()${among('b.org_id')}
  order by b.org_id limit 1`
const END = `update link_batches set state = 'dead' where org_id = $1 and state = 'free' and expires_at < now()`

const OLD_BATCH = `state in ('spent', 'lost', 'dead') and expires_at < now() - interval '60 days'`
const OLD = (among: Among) => `
  select b.org_id from link_batches b where b.org_id > $1 and ${OLD_BATCH}${among('b.org_id')} order by b.org_id limit 1`
const FORGET_LINKS = `
  delete from channel_links l
  where l.org_id = $1 and l.expires_at < now() - interval '60 days'
    and not exists (select from clicks c where c.org_id = $1 and c.link_id = l.id)
    and not exists (select from link_grants g where g.org_id = $1 and g.link_id = l.id)`
const FORGET = `delete from link_batches where org_id = $1 and ${OLD_BATCH}`

const COUNTED = (among: Among) => `
  select g.org_id from links_given g where g.org_id > $1 and g.minute < now() - interval '3 days'${among('g.org_id')} order by g.org_id limit 1`
const FORGET_COUNTS = `delete from links_given where org_id = $1 and minute < now() - interval '2 days'`

const SWEEPS = [
  { next: ABANDONED, texts: [LOSE] },
  { next: OVER, texts: [END] },
  { next: OLD, texts: [FORGET_LINKS, FORGET] },
  { next: COUNTED, texts: [FORGET_COUNTS] },
]

/** One sweep over all organizations. */
export async function sweepLinks({ database }: Pick<Ground, 'database'>, signal?: AbortSignal): Promise<void> {
  for (const { next, texts } of SWEEPS)
    for await (const org_id of organizationsWith(next, database.worker, signal))
      for (const text of texts) await database.worker.query(text, [org_id])
}

/** Sweeps every minute until it is closed; any number of processes may run it. */
export function openLinkSweep(ground: Pick<Ground, 'database' | 'log'>): Rounds {
  return openRounds(
    'invite-links/sweep',
    MINUTE_MS,
    signal => sweepLinks(ground, signal),
    error => ground.log.warn({ err: error }, 'could not sweep invite links; retrying'),
  )
}
