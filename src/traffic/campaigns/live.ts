// Every campaign in memory, as the redirect needs it. NOTIFY brings changes at once, a look at what has changed lately is the truth
// behind it, and while the database is away what is here goes on being served. Owns no table; reads campaigns, their keys, what they lead
// and report to, and which organizations are deleted.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { listen } from '../../ground/db/listen.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { inTurn } from '../../ground/in-turn.ts'
import type { Ground } from '../../ground/room.ts'
import { type Named, readCampaignsOfKeys } from './lately.ts'
import { type LiveCampaign, type Memory, openMemory } from './memory.ts'
import { searcher } from './search.ts'

export type {
  LiveCap,
  LiveFlow,
  LiveFunnel,
  LiveLanding,
  LiveObjects,
  LiveOffer,
  LiveTrafficSource,
  Named,
} from './lately.ts'
export type { LiveCampaign } from './memory.ts'

export type LiveCampaigns = Pick<Memory, 'find' | 'campaign' | 'object' | 'capsOf'> & {
  /** The same for a key that `find` does not know: looks into the database, unless that was done a moment ago. Never rejects. */
  search: (key: string) => Promise<LiveCampaign | undefined>
  /** Reads what has changed, and `named` in any case; resolves when this process serves it. */
  refresh: (named?: Named) => Promise<void>
  close: () => Promise<void>
}

const CHANNEL = 'sluice_traffic'
const POLL_MS = 1000
/** A database that hangs must not hold the answer to a change that was made. */
const ANNOUNCE_MS = 2000

const opened = new WeakMap<Kysely<Tables>, Set<LiveCampaigns>>()

/** Loads all campaigns and keeps them fresh until it is closed. */
export async function openLiveCampaigns({ database, db, log }: Ground): Promise<LiveCampaigns> {
  const pool = database.clicks
  const memory = openMemory(pool)
  const refresh = inTurn(memory.read)
  let isStale = false
  const refreshed = () =>
    void refresh().then(
      () => {
        isStale = false
      },
      (error: unknown) => {
        // Said once: at every look it would fill the log for as long as it lasts.
        if (!isStale) log.warn({ err: error }, 'campaigns cannot be refreshed; traffic goes by what is in memory')
        isStale = true
      },
    )
  // Listening first: what is said while the first load runs is then heard.
  const listening = await listen(database, CHANNEL, {
    told: payload => {
      const [org_id = '', id = ''] = payload.split(' ')
      memory.want({ org_id: Number(org_id), id })
      refreshed()
    },
    again: () => {
      memory.want('all')
      refreshed()
    },
  })
  await refresh()
  const poll = setInterval(refreshed, POLL_MS)
  poll.unref()
  const live: LiveCampaigns = {
    find: memory.find,
    search: searcher(async keys => {
      const rows = await readCampaignsOfKeys(pool, keys)
      // What a campaign made a moment ago leads to is as new as the campaign.
      if (rows.length > 0) await refresh()
      return rows
    }, memory.remember),
    campaign: memory.campaign,
    object: memory.object,
    capsOf: memory.capsOf,
    async refresh(named) {
      if (named !== undefined) memory.want(named)
      await refresh()
    },
    async close() {
      clearInterval(poll)
      opened.get(db)?.delete(live)
      await listening.close()
      await refresh.idle()
    },
  }
  opened.set(db, (opened.get(db) ?? new Set()).add(live))
  return live
}

/**
 * Tells every process that a campaign, or what one leads to, has changed. To be called after the commit and awaited before the answer: then this
 * process serves the change before its author is told that it was made, and the others within a second. Never rejects.
 */
export async function announceChange(db: Kysely<Tables>, org_id: number, id: string): Promise<void> {
  const here = [...(opened.get(db) ?? [])].map(live => live.refresh({ org_id, id }))
  const elsewhere = sql`select pg_notify(${CHANNEL}, ${`${org_id} ${id}`})`.execute(db)
  // What fails or hangs here is made good by the next look at what has changed.
  await Promise.race([Promise.allSettled([...here, elsewhere]), sleep(ANNOUNCE_MS, undefined, { ref: false })])
}

/** `announceChange` for the deletion or restoring of an organization. */
export const announceOrganization = (db: Kysely<Tables>, org_id: number): Promise<void> =>
  announceChange(db, org_id, '')
