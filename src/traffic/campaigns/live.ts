// All campaigns in memory, for the redirect, which goes on while the database is away. Owns no table; reads campaigns, their keys, the objects
// that they lead to or report to, and which organizations are deleted.
import type { Kysely } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import { channelFor } from '../../ground/following.ts'
import type { Ground } from '../../ground/room.ts'
import { type ChangedObject, readCampaignsOfKeys } from './live-rows.ts'
import { type LiveCampaign, type Memory, openMemory } from './memory.ts'
import { searcher } from './search.ts'

export type {
  ChangedObject,
  LiveCap,
  LiveChannel,
  LiveFlow,
  LiveFunnel,
  LiveLanding,
  LiveLeftOut,
  LiveObjects,
  LiveOffer,
  LiveTrafficSource,
} from './live-rows.ts'
export type { LiveCampaign } from './memory.ts'

export type LiveCampaigns = Pick<Memory, 'find' | 'campaign' | 'object' | 'capsOf' | 'sharedLink' | 'all'> & {
  /** Looks in the database for a key that `find` does not know, unless that was done a moment ago. Never rejects. */
  search: (key: string) => Promise<LiveCampaign | undefined>
  /** Reads the changes, and `changed` in any case. Resolves when this process serves them. */
  refresh: (changed?: ChangedObject) => Promise<void>
  close: () => Promise<void>
}

const traffic = channelFor('sluice_traffic', 'campaigns')

/** Loads all campaigns and keeps them fresh until it is closed. */
export async function openLiveCampaigns(ground: Ground): Promise<LiveCampaigns> {
  const pool = ground.database.clicks
  const memory = openMemory(pool)
  const { refresh, close } = await traffic.follow(ground, {
    read: memory.read,
    onNotify: text => memory.want(changedObject(text)),
    onGap: () => memory.want('all'),
  })
  return {
    find: memory.find,
    search: searcher(async keys => {
      const rows = await readCampaignsOfKeys(pool, keys)
      // The objects that a new campaign leads to may be new as well.
      if (rows.length > 0) await refresh()
      return rows
    }, memory.remember),
    campaign: memory.campaign,
    object: memory.object,
    capsOf: memory.capsOf,
    sharedLink: memory.sharedLink,
    all: memory.all,
    async refresh(changed) {
      if (changed !== undefined) memory.want(changed)
      await refresh()
    },
    close,
  }
}

/** The text of an announcement. */
const announcementOf = ({ org_id, id }: ChangedObject): string => `${org_id} ${id}`

function changedObject(announcement: string): ChangedObject {
  const [org_id = '', id = ''] = announcement.split(' ')
  return { org_id: Number(org_id), id }
}

/** Tells every process that a campaign, or an object that campaigns lead to, has changed. Call it after the commit and before the answer. Never rejects. */
export const announceChange = (db: Kysely<Tables>, org_id: number, id: string): Promise<void> =>
  traffic.announce(db, announcementOf({ org_id, id }))

/** Announces that an organization was deleted or restored. */
export const announceOrganization = (db: Kysely<Tables>, org_id: number): Promise<void> =>
  announceChange(db, org_id, '')
