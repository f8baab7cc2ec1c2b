// The campaigns in memory and the objects they lead to. Each read brings the changes since the last one.
import type pg from 'pg'
import {
  BEGINNING,
  type LiveCampaignRow,
  LIVE_KINDS,
  type LiveCap,
  type LiveKind,
  type LiveObjects,
  type LiveSharedLink,
  type ChangedObject,
  readAll,
  readAllCampaigns,
  readChangedCampaigns,
  readChangedKinds,
  readChangedOf,
  readDeletedOrganizations,
} from './live-rows.ts'

/** How many announcements are kept while the database is away. Changes beyond these are found by their time. */
const MOST_ANNOUNCEMENTS = 1000

/** A campaign in memory. It is replaced when it changes and never mutated, so caches can use it as their key. */
export type LiveCampaign = LiveCampaignRow & {
  /** Shared by the organization's campaigns and kept up to date. */
  readonly organization: { is_deleted: boolean }
}

export type Memory = {
  /** The campaign of a key. */
  find: (key: string) => LiveCampaign | undefined
  /** A campaign by its id, deleted ones included. */
  campaign: (id: string) => LiveCampaign | undefined
  /** The object of a kind by its id, archived and deleted ones included. */
  object: <K extends LiveKind>(kind: K, id: string) => LiveObjects[K] | undefined
  /** The active caps of an offer or campaign, oldest first. */
  capsOf: (object_id: string) => readonly LiveCap[] | undefined
  /** The shared invite link of a campaign into a channel. */
  sharedLink: (channel_id: string, campaign_id: string) => LiveSharedLink | undefined
  /** All campaigns, deleted ones included. */
  all: () => Iterable<LiveCampaign>
  /** Makes the next read include an announced object, or everything. */
  want: (what: ChangedObject | 'all') => void
  read: () => Promise<void>
  remember: (row: LiveCampaignRow) => LiveCampaign
}

/** What the next read brings besides the changes: announced objects, or everything. */
type Wanted = { announced: ChangedObject[]; all: boolean }

/** An empty memory. Its first read brings everything. */
export function openMemory(pool: pg.Pool): Memory {
  let [campaigns, campaignsById] = [new Map<string, LiveCampaign>(), new Map<string, LiveCampaign>()]
  let objects = openObjects()
  let indexes = indexesOf(objects)
  const organizations = new Map<number, { is_deleted: boolean }>()
  let since = BEGINNING
  let wanted: Wanted = { announced: [], all: true }
  /** Whether the last read missed the organizations of a cluster's node that was away. */
  let isMissingSome = false

  const remember = (row: LiveCampaignRow): LiveCampaign => {
    const organization = organizations.get(row.org_id) ?? { is_deleted: false }
    organizations.set(row.org_id, organization)
    const campaign = { ...row, organization }
    campaigns.set(row.key, campaign)
    campaignsById.set(row.id, campaign)
    return campaign
  }

  const apply = async ({ announced, all }: Wanted) => {
    const { deleted, since: since_next } = await readDeletedOrganizations(pool)
    const fresh = openObjects()
    // An announced object may be of any kind.
    const changed = all || announced.length > 0 ? undefined : await readChangedKinds(pool, since)
    const mayDiffer = (kind: LiveKind | 'campaign') => changed?.kinds.has(kind) ?? true
    let isWhole = changed?.isWhole ?? true
    // Objects come before campaigns, so that a new campaign's destination is known. One kind at a time, to leave connections for clicks.
    for (const kind of LIVE_KINDS)
      if (mayDiffer(kind)) isWhole = (await readKind(pool, fresh, kind, all ? 'all' : { since, announced })) && isWhole
    const readCampaigns = () => (all ? readAllCampaigns(pool) : readChangedCampaigns(pool, since, announced))
    const read = mayDiffer('campaign') ? await readCampaigns() : { rows: [], isWhole }
    isWhole &&= read.isWhole
    if (all && isWhole) [campaigns, campaignsById, objects] = [new Map(), new Map(), fresh]
    else addObjects(objects, fresh)
    if (all || fresh.cap.size + fresh.shared_link.size > 0) indexes = indexesOf(objects)
    for (const row of read.rows) remember(row)
    for (const [org_id, organization] of organizations) organization.is_deleted = deleted.has(org_id)
    since = since_next
    // Once every node is back, everything is read again, because the missed changes lie before `since`.
    if (isWhole && isMissingSome && !all) wanted.all = true
    isMissingSome = !isWhole
  }

  return {
    find: key => campaigns.get(key),
    campaign: id => campaignsById.get(id),
    object: (kind, id) => objects[kind].get(id),
    capsOf: id => indexes.caps.get(id),
    sharedLink: (...of) => indexes.shared.get(of.join(' ')),
    all: () => campaignsById.values(),
    remember,
    want(what) {
      if (what === 'all') wanted.all = true
      else wanted.announced.push(what)
    },
    async read() {
      const now = wanted
      wanted = { announced: [], all: false }
      try {
        await apply(now)
      } catch (error) {
        wanted = together(now, wanted)
        throw error
      }
    },
  }
}

/** What a read failed to bring, with what was announced meanwhile. */
const together = (failed: Wanted, since: Wanted): Wanted => ({
  announced: [...failed.announced, ...since.announced].slice(-MOST_ANNOUNCEMENTS),
  all: failed.all || since.all,
})

/** The objects in memory, by kind and id. */
type Objects = { readonly [K in LiveKind]: Map<string, LiveObjects[K]> }

const openObjects = (): Objects => ({
  offer: new Map(),
  landing: new Map(),
  funnel: new Map(),
  click_flow: new Map(),
  bot: new Map(),
  channel: new Map(),
  shared_link: new Map(),
  ad_account: new Map(),
  traffic_source: new Map(),
  cap: new Map(),
  open_hours: new Map(),
  left_out: new Map(),
  test_ends: new Map(),
})

/** Indexes for look-ups other than by id. */
const indexesOf = (objects: Objects) => ({ caps: inUse(objects.cap), shared: byCampaign(objects.shared_link) })

/** The active caps by their offer or campaign. */
function inUse(caps: ReadonlyMap<string, LiveCap>): Map<string, LiveCap[]> {
  const all = [...caps.values()].filter(cap => !cap.is_deleted)
  return Map.groupBy(
    all.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    ({ object_id }) => object_id,
  )
}

/** The usable shared links by channel and campaign. */
const byCampaign = (links: ReadonlyMap<string, LiveSharedLink>): Map<string, LiveSharedLink> =>
  new Map(
    [...links.values()]
      .filter(link => !link.is_deleted)
      .map(link => [`${link.channel_id} ${link.campaign_id}`, link] as const),
  )

/** Reads all or the changed objects of a kind into `objects`. Returns false if a node of the cluster could not be asked. */
async function readKind<K extends LiveKind>(
  pool: pg.Pool,
  objects: Objects,
  kind: K,
  which: 'all' | { since: string; announced: readonly ChangedObject[] },
): Promise<boolean> {
  const { rows, isWhole } =
    which === 'all' ? await readAll(pool, kind) : await readChangedOf(pool, kind, which.since, which.announced)
  for (const row of rows) objects[kind].set(row.id, row)
  return isWhole
}

function addObjects(to: Objects, from: Objects): void {
  for (const kind of LIVE_KINDS) for (const [id, row] of from[kind]) (to[kind] as Map<string, typeof row>).set(id, row)
}
