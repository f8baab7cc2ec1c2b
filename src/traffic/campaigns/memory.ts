// The campaigns in memory and what they lead to, brought up to date by what has changed since they were last read.
import type pg from 'pg'
import {
  BEGINNING,
  type CampaignRow,
  LIVE_KINDS,
  type LiveCap,
  type LiveKind,
  type LiveObjects,
  type LiveSharedLink,
  type Named,
  readAll,
  readAllCampaigns,
  readChangedCampaigns,
  readChangedKinds,
  readChangedOf,
  readDeletedOrganizations,
} from './lately.ts'

/** While the database is away, names of what has changed are kept up to this many; it is read by its time as well. */
const MOST_NAMED = 1000

/** A campaign of traffic. Replaced as a whole when it changes, so what is compiled for it can be kept by the object. */
export type LiveCampaign = CampaignRow & {
  /** Shared by the organization's campaigns and kept up to date. */
  readonly organization: { is_deleted: boolean }
}

export type Memory = {
  /** The campaign of a key, from memory. */
  find: (key: string) => LiveCampaign | undefined
  /** A campaign by its id, deleted ones included. */
  campaign: (id: string) => LiveCampaign | undefined
  /** What a campaign leads to: an offer, landing … of that id, archived and deleted ones included. */
  object: <K extends LiveKind>(kind: K, id: string) => LiveObjects[K] | undefined
  /** The caps of an offer or campaign that are in use, the oldest first. */
  capsOf: (object_id: string) => readonly LiveCap[] | undefined
  /** The link into a channel that a campaign's clicks share. */
  sharedLink: (channel_id: string, campaign_id: string) => LiveSharedLink | undefined
  /** Every campaign, deleted ones included. */
  all: () => Iterable<LiveCampaign>
  /** Has the next read bring something that is known to have changed, or everything anew. */
  want: (what: Named | 'all') => void
  read: () => Promise<void>
  remember: (row: CampaignRow) => LiveCampaign
}

/** An empty memory; its first read brings everything. */
export function openMemory(pool: pg.Pool): Memory {
  let campaigns = new Map<string, LiveCampaign>()
  let campaignsById = new Map<string, LiveCampaign>()
  let objects = openObjects()
  let found = indexed(objects)
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
    // Something named may be of any kind.
    const changed = all || named.length > 0 ? undefined : await readChangedKinds(pool, since)
    const mayDiffer = (kind: LiveKind | 'campaign') => changed?.kinds.has(kind) ?? true
    let isWhole = changed?.isWhole ?? true
    // Before the campaigns, so that what a new campaign leads to is known; one by one, to leave the clicks their connections.
    for (const kind of LIVE_KINDS)
      if (mayDiffer(kind)) isWhole = (await readKind(pool, fresh, kind, all ? 'all' : { since, named })) && isWhole
    const readCampaigns = () => (all ? readAllCampaigns(pool) : readChangedCampaigns(pool, since, named))
    const read = mayDiffer('campaign') ? await readCampaigns() : { rows: [], isWhole }
    isWhole &&= read.isWhole
    if (all && isWhole) [campaigns, campaignsById, objects] = [new Map(), new Map(), fresh]
    else addObjects(objects, fresh)
    if (all || fresh.cap.size + fresh.shared_link.size > 0) found = indexed(objects)
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
    capsOf: id => found.caps.get(id),
    sharedLink: (...of) => found.shared.get(of.join(' ')),
    all: () => campaignsById.values(),
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
  channel: new Map(),
  shared_link: new Map(),
  ad_account: new Map(),
  traffic_source: new Map(),
  cap: new Map(),
  open_hours: new Map(),
})

/** What is looked for by something else than its id. */
const indexed = (objects: Objects) => ({ caps: inUse(objects.cap), shared: byCampaign(objects.shared_link) })

/** The caps that hold, by what they are of. */
function inUse(caps: ReadonlyMap<string, LiveCap>): Map<string, LiveCap[]> {
  const all = [...caps.values()].filter(cap => !cap.is_deleted)
  return Map.groupBy(
    all.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    ({ object_id }) => object_id,
  )
}

/** The shared links that are in use, by what they are of. */
const byCampaign = (links: ReadonlyMap<string, LiveSharedLink>): Map<string, LiveSharedLink> =>
  new Map(
    [...links.values()]
      .filter(link => !link.is_deleted)
      .map(link => [`${link.channel_id} ${link.campaign_id}`, link] as const),
  )

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
