/** The tag of a campaign's pages, and what arrived from them. Reads `page_visits`, `clicks` and `refused_events`. */
import type { Call } from '../../contract/endpoint.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { domainAddresses } from '../../traffic/domains/addresses.ts'
import type { Click, PageVisit } from '../clicks/click.ts'
import { untrackedReason } from '../clicks/untracked.ts'
import { neutralName } from '../onward/script.ts'
import { requireCampaignOf } from './servers.ts'
import * as api from './api.ts'

/** The tag, under the campaign's domain or else under the address that the caller used. Refuses `object_not_found`. */
export async function readPageTag(
  { db, secrets, actor, origin }: Context<typeof api.readPageTag>,
  { params }: Call<typeof api.readPageTag>,
) {
  const { key, sites, domain_id } = await requireCampaignOf(db, actor.org_id, idOf(params.id))
  const base = (await domainAddresses(db, actor.org_id))(domain_id)?.origin ?? origin ?? ''
  const tag = (name: string) => `<script src="${base}/${name}.js" data-campaign="${key}" defer></script>`
  return {
    script: tag('sluice'),
    neutral_script: tag(neutralName(secrets, URL.parse(base)?.host ?? '')),
    // With the whole address of the page, so that its parameters are read.
    noscript: `<noscript><img src="${base}/v/${key}.gif" width="1" height="1" alt="" referrerpolicy="no-referrer-when-downgrade"></noscript>`,
    sites,
  }
}

const ARRIVED = `
  select v.received_at, v.via, v.page, v.site, v.click_id, v.untracked_reason, c.tracked, c.test, c.click_flow_node_path, c.device,
    c.user_agent
  from (
    select * from page_visits where org_id = $1 and campaign_id = $2 order by received_at desc limit ${api.MOST_ARRIVALS}
  ) v
  join clicks c on c.org_id = $1 and c.id = v.click_id`

const REFUSED = `
  select received_at, diagnosis as reason, body from refused_events
  where org_id = $1 and campaign_id = $2 and type is null
  order by id desc limit ${api.MOST_ARRIVALS}`

type ArrivedRow = Pick<PageVisit, 'received_at' | 'via' | 'page' | 'site' | 'untracked_reason'> & {
  click_id: string
} & Pick<Click, 'tracked' | 'test' | 'click_flow_node_path' | 'device' | 'user_agent'>
type RefusedRow = { received_at: string; reason: 'site_not_listed' | 'page_server_unknown'; body: string }

/** What arrived lately, refused visits included. Refuses `object_not_found`. */
export async function listArrivals(
  { db, database, actor }: Context<typeof api.listArrivals>,
  { params }: Call<typeof api.listArrivals>,
) {
  const { id } = await requireCampaignOf(db, actor.org_id, idOf(params.id))
  const [arrived, refused] = await Promise.all([
    database.reads.query<ArrivedRow>(ARRIVED, [actor.org_id, id]),
    database.reads.query<RefusedRow>(REFUSED, [actor.org_id, id]),
  ])
  const data = [...arrived.rows.map(arrivalOf), ...refused.rows.map(refusalOf)]
  const newestFirst = data.toSorted((a, b) => Date.parse(b.received_at) - Date.parse(a.received_at))
  return { data: newestFirst.slice(0, api.MOST_ARRIVALS) }
}

const arrivalOf = ({ received_at, via, page, site, click_id, untracked_reason, ...click }: ArrivedRow) => ({
  received_at,
  via,
  page,
  site,
  click_id,
  tracked: click.tracked,
  reason: untrackedReason(click, untracked_reason),
})

function refusalOf({ received_at, reason, body }: RefusedRow) {
  const { via, page, site } = readRefused(body)
  return { received_at, via, page, site, click_id: null, tracked: false, reason }
}

type RefusedPage = Pick<PageVisit, 'via' | 'page' | 'site'>

/** Reports that an earlier version kept may have been cut off. */
function readRefused(body: string): RefusedPage {
  try {
    return JSON.parse(body) as RefusedPage
  } catch {
    return { via: 'script', page: null, site: null }
  }
}
