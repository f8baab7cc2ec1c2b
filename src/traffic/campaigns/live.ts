// Every campaign in memory, as the redirect needs it. NOTIFY brings changes at once, a look at what has changed lately is the truth
// behind it, and while the database is away what is here goes on being served. Owns no table; reads campaigns, their keys, what they lead
// and report to, and which organizations are deleted.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { listen } from '../../ground/db/listen.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import {
  BEGINNING,
  type CampaignRow,
  LIVE_KINDS,
  type LiveCap,
  type LiveKind,
  type LiveObjects,
  type Named,
  readAll,
  readAllCampaigns,
  readCampaignsOfKeys,
  readChangedCampaigns,
  readChangedOf,
  readDeletedOrganizations,
} from './lately.ts'

/** A campaign of traffic. Replaced as a whole when it changes, so what is compiled for it can be kept by the object. */
export type LiveCampaign = CampaignRow & {
  /** Shared by the organization's campaigns and kept up to date. */
  readonly organization: { is_deleted: boolean }
}

export type {
  LiveBot,
  LiveCap,
  LiveFlow,
  LiveFunnel,
  LiveKind,
  LiveLanding,
  LiveObjects,
  LiveOffer,
  LiveTrafficSource,
  Named,
} from './lately.ts'

export type LiveCampaigns = {
  /** The campaign of a key, from memory. */
  find: (key: string) => LiveCampaign | undefined
  /** The same for a key that `find` does not know: looks into the database, unless that was done a moment ago. Never rejects. */
  search: (key: string) => Promise<LiveCampaign | undefined>
  /** A campaign by its id, deleted ones included. */
  campaign: (id: string) => LiveCampaign | undefined
  /** What a campaign leads to: an offer, landing … of that id, archived and deleted ones included. */
  object: <K extends LiveKind>(kind: K, id: string) => LiveObjects[K] | undefined
  /** The caps of an offer or campaign that are in use, the oldest first. */
  capsOf: (object_id: string) => readonly LiveCap[] | undefined
  /** Reads what has changed, and `named` in any case; resolves when this process serves it. */
  refresh: (named?: Named) => Promise<void>
  close: () => Promise<void>
}

const CHANNEL = 'sluice_traffic'
const POLL_MS = 1000
/** A database that hangs must not hold the answer to a change that was made. */
const ANNOUNCE_MS = 2000
const KEY = /^[a-z0-9-]{1,64}$/
/** Invented keys cost one look-up every few seconds, and all of them together one statement at a time. */
const UNKNOWN_KEPT_MS = 3000
const MOST_UNKNOWN = 20_000
const MOST_ASKED_AT_ONCE = 500
/** While the database is away, names of what has changed are kept up to this many; it is read by its time as well. */
const MOST_NAMED = 1000

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

type Memory = Pick<LiveCampaigns, 'find' | 'campaign' | 'object' | 'capsOf'> & {
  /** Has the next read bring something that is known to have changed, or everything anew. */
  want: (what: Named | 'all') => void
  read: () => Promise<void>
  remember: (row: CampaignRow) => LiveCampaign
}

function openMemory(pool: pg.Pool): Memory {
  let campaigns = new Map<string, LiveCampaign>()
  let campaignsById = new Map<string, LiveCampaign>()
  let objects = openObjects()
  let caps = new Map<string, LiveCap[]>()
  const organizations = new Map<number, { is_deleted: boolean }>()
  let since = BEGINNING
  let wanted: { named: Named[]; all: boolean } = { named: [], all: true }
  /** While a node of a cluster is away its organizations' changes are missed. */
  let isMissingSome = false

  const remember = (row: CampaignRow): LiveCampaign => {
    const organization = organizations.get(row.org_id) ?? { is_deleted: false }
    organizations.set(row.org_id, organization)
    const campaign = { ...row, organization }
    campaigns.set(row.key, campaign)
    campaignsById.set(row.id, campaign)
    return campaign
  }

  const apply = async ({ named, all }: typeof wanted) => {
    const { gone, since: since_next } = await readDeletedOrganizations(pool)
    const fresh = openObjects()
    let isWhole = true
    // Before the campaigns, so that what a new campaign leads to is known; one by one, to leave the clicks their connections.
    for (const kind of LIVE_KINDS)
      isWhole = (await readKind(pool, fresh, kind, all ? 'all' : { since, named })) && isWhole
    const read = all ? await readAllCampaigns(pool) : await readChangedCampaigns(pool, since, named)
    isWhole &&= read.isWhole
    if (all && isWhole) {
      campaigns = new Map()
      campaignsById = new Map()
      objects = fresh
    } else addObjects(objects, fresh)
    if (all || fresh.cap.size > 0) caps = inUse(objects.cap)
    for (const row of read.rows) remember(row)
    for (const [org_id, organization] of organizations) organization.is_deleted = gone.has(org_id)
    since = since_next
    // Read anew once every node is there again, because what was missed meanwhile lies before `since`.
    if (isWhole && isMissingSome && !all) wanted.all = true
    isMissingSome = !isWhole
  }

  return {
    find: key => campaigns.get(key),
    campaign: id => campaignsById.get(id),
    object: (kind, id) => objects[kind].get(id),
    capsOf: id => caps.get(id),
    remember,
    want(what) {
      if (what === 'all') wanted.all = true
      else wanted.named.push(what)
    },
    async read() {
      const now = wanted
      wanted = { named: [], all: false }
      try {
        await apply(now)
      } catch (error) {
        wanted = { named: [...now.named, ...wanted.named].slice(-MOST_NAMED), all: now.all || wanted.all }
        throw error
      }
    },
  }
}

/** The objects in memory, by kind and id. */
type Objects = { readonly [K in LiveKind]: Map<string, LiveObjects[K]> }

const openObjects = (): Objects => ({
  offer: new Map(),
  landing: new Map(),
  funnel: new Map(),
  click_flow: new Map(),
  bot: new Map(),
  ad_account: new Map(),
  traffic_source: new Map(),
  cap: new Map(),
  open_hours: new Map(),
})

/** The caps that hold, by what they are of. */
function inUse(caps: ReadonlyMap<string, LiveCap>): Map<string, LiveCap[]> {
  const all = [...caps.values()].filter(cap => !cap.is_deleted)
  return Map.groupBy(
    all.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    ({ object_id }) => object_id,
  )
}

/** Reads what there is or has changed of a kind into `objects`; false where a node's organizations could not be asked. */
async function readKind<K extends LiveKind>(
  pool: pg.Pool,
  objects: Objects,
  kind: K,
  which: 'all' | { since: string; named: readonly Named[] },
): Promise<boolean> {
  const { rows, isWhole } =
    which === 'all' ? await readAll(pool, kind) : await readChangedOf(pool, kind, which.since, which.named)
  for (const row of rows) objects[kind].set(row.id, row)
  return isWhole
}

function addObjects(to: Objects, from: Objects): void {
  for (const kind of LIVE_KINDS) for (const [id, row] of from[kind]) (to[kind] as Map<string, typeof row>).set(id, row)
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

type InTurn = { (): Promise<void>; idle(): Promise<void> }

/** Runs a task one after another; a call answers when a run that began after it has ended. */
function inTurn(task: () => Promise<void>): InTurn {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const start = (): Promise<void> => {
    next = undefined
    running = task().finally(() => {
      running = undefined
    })
    return running
  }
  const run = (): Promise<void> => {
    if (running === undefined) return start()
    next ??= running.catch(() => {}).then(start)
    return next
  }
  return Object.assign(run, {
    async idle() {
      while (running !== undefined || next !== undefined) await (next ?? running)?.catch(() => {})
    },
  })
}

type Found = LiveCampaign | undefined

function searcher(
  ask: (keys: string[]) => Promise<CampaignRow[]>,
  remember: (row: CampaignRow) => LiveCampaign,
): (key: string) => Promise<Found> {
  const unknown = new LRUCache<string, true>({ max: MOST_UNKNOWN, ttl: UNKNOWN_KEPT_MS })
  let asked = new Map<string, PromiseWithResolvers<Found>>()
  let isAsking = false

  const askAll = async () => {
    if (isAsking || asked.size === 0) return
    isAsking = true
    const waiting = asked
    asked = new Map()
    try {
      const rows = new Map((await ask([...waiting.keys()])).map(row => [row.key, row]))
      for (const [key, { resolve }] of waiting) {
        const row = rows.get(key)
        if (row === undefined) unknown.set(key, true)
        resolve(row && remember(row))
      }
    } catch {
      // Whatever keeps the database from answering is said by the next refresh; a visitor is not kept waiting for it.
      for (const { resolve } of waiting.values()) resolve(undefined)
    }
    isAsking = false
    void askAll()
  }

  return key => {
    if (!KEY.test(key) || unknown.has(key)) return Promise.resolve(undefined)
    const already = asked.get(key)
    if (already !== undefined) return already.promise
    // In a flood of invented keys nobody waits for the database; a campaign just made is found by the next poll.
    if (asked.size >= MOST_ASKED_AT_ONCE) return Promise.resolve(undefined)
    const waiting = Promise.withResolvers<Found>()
    asked.set(key, waiting)
    void askAll()
    return waiting.promise
  }
}
