// Every campaign in memory, as the redirect needs it; while the database is away what is here goes on being served. Owns no table; reads
// campaigns, their keys, what they lead and report to, and which organizations are deleted.
import type { Kysely } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import { followed } from '../../ground/following.ts'
import type { Ground } from '../../ground/room.ts'
import { type Named, readCampaignsOfKeys } from './lately.ts'
import { type LiveCampaign, type Memory, openMemory } from './memory.ts'
import { searcher } from './search.ts'

export type {
  LiveCap,
  LiveChannel,
  LiveFlow,
  LiveFunnel,
  LiveLanding,
  LiveObjects,
  LiveOffer,
  LiveTrafficSource,
  Named,
} from './lately.ts'
export type { LiveCampaign } from './memory.ts'

export type LiveCampaigns = Pick<Memory, 'find' | 'campaign' | 'object' | 'capsOf' | 'sharedLink' | 'all'> & {
  /** The same for a key that `find` does not know: looks into the database, unless that was done a moment ago. Never rejects. */
  search: (key: string) => Promise<LiveCampaign | undefined>
  /** Reads what has changed, and `named` in any case; resolves when this process serves it. */
  refresh: (named?: Named) => Promise<void>
  close: () => Promise<void>
}

const traffic = followed('sluice_traffic', 'campaigns')

/** Loads all campaigns and keeps them fresh until it is closed. */
export async function openLiveCampaigns(ground: Ground): Promise<LiveCampaigns> {
  const pool = ground.database.clicks
  const memory = openMemory(pool)
  const { refresh, close } = await traffic.follow(ground, {
    read: memory.read,
    told: said => memory.want(namedIn(said)),
    missed: () => memory.want('all'),
  })
  return {
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
    sharedLink: memory.sharedLink,
    all: memory.all,
    async refresh(named) {
      if (named !== undefined) memory.want(named)
      await refresh()
    },
    close,
  }
}

/** What is said of a change. */
const sayingOf = ({ org_id, id }: Named): string => `${org_id} ${id}`

function namedIn(said: string): Named {
  const [org_id = '', id = ''] = said.split(' ')
  return { org_id: Number(org_id), id }
}

/** Tells every process that a campaign, or what one leads to, has changed: after the commit, before the answer. Never rejects. */
export const announceChange = (db: Kysely<Tables>, org_id: number, id: string): Promise<void> =>
  traffic.announce(db, sayingOf({ org_id, id }))

/** `announceChange` for the deletion or restoring of an organization. */
export const announceOrganization = (db: Kysely<Tables>, org_id: number): Promise<void> =>
  announceChange(db, org_id, '')
