/**
 * Visits that pages report themselves, without a redirect. A page token is the same visit for as long as its click is kept, so repeats, also while the
 * first is being stored, get the id of the first. A visit is stored like a redirect's click: in the database, or in the journal while that is away.
 */
import type pg from 'pg'
import { keepRecent } from '../../ground/recent.ts'
import type { Visit } from '../../ground/room.ts'
import type { LiveCampaign, LiveCampaigns } from '../../traffic/campaigns/live.ts'
import {
  type Arrival,
  arrivalOf,
  clickOfVisit,
  courseWithinCaps,
  outcomeOf,
  settleCaps,
  type VisitParts,
} from './arrival.ts'
import type { Click, PageVisit } from './click.ts'
import type { Course } from './course.ts'
import { within } from './deadline.ts'
import { visits } from './metrics.ts'
import { openReportPace } from './report-pace.ts'
import { untrackedReason } from './untracked.ts'

/** A page's report: the visit with the page's address as its URL, and `token` as `tokenKey` gives it. */
type SentVisit = {
  readonly campaign: LiveCampaign
  readonly visit: Visit
} & Pick<PageVisit, 'token' | 'via' | 'page' | 'site'>

/** The click of a visit, and whether it was there before. */
export type StoredVisit = { readonly click_id: string; readonly isJoined: boolean }

export type PageVisits = {
  /** Stores the visit, or finds the click that it is. Undefined if neither the database nor the disk took it. Never rejects. */
  record: (sent: SentVisit) => Promise<StoredVisit | undefined>
  /** The visit of this process with the token, if it was lately. */
  recent: (campaign_id: string, token: string) => Promise<StoredVisit | undefined> | undefined
  /** Notes that the visit belongs to a click that is there. While the database is away it is not noted. Never rejects. */
  join: (sent: SentVisit, click_id: string) => Promise<StoredVisit>
  /** The click of a token: of a campaign, else of any campaign with sites. Undefined if there is none, or if the database is away. */
  find: (token: string, campaign_id: string | undefined) => Promise<string | undefined>
  /** The click that the visit would be now. Nothing is stored, and no place of a cap is taken. */
  unrecorded: (campaign: LiveCampaign, visit: Visit) => Promise<Click>
}

/** Minutes of a busy site. The database knows the others. */
const REMEMBERED = 50_000
/** Opens the recording of page visits. */
export function openPageVisits(parts: VisitParts, pool: pg.Pool): PageVisits {
  const recent = keepRecent<Promise<StoredVisit | undefined>>(REMEMBERED)
  const isOverPace = openReportPace()
  const nameOf = (campaign_id: string, token: string) => `${campaign_id} ${token}`

  const store = async (sent: SentVisit): Promise<StoredVisit | undefined> => {
    const { campaign, visit } = sent
    const arrival = arrivalOf(parts, campaign, visit)
    const isPaced = isOverPace(campaign.id, visit.ip, arrival.ms)
    const judged = isPaced ? { ...arrival, isCounted: false } : arrival
    const course = await courseWithinCaps(parts, judged)
    visits[outcomeOf(judged, course, true)] += 1
    if (judged.isCounted) parts.unfilled.note(arrival.traffic, arrival.parameters, visit.url, arrival.ms)
    const click = pageClickOf(parts, sent, judged, course, isPaced && arrival.isCounted)
    const click_id = await parts.joining.store(click)
    if (click_id === undefined) return undefined
    settleCaps(parts, click, course, arrival.ms)
    if (click.joined_to !== undefined) return { click_id: click.joined_to, isJoined: true }
    parts.found.note(click)
    return { click_id, isJoined: false }
  }

  return {
    record(sent) {
      const name = nameOf(sent.campaign.id, sent.token)
      const known = recent.get(name)
      if (known !== undefined) return known
      const storing = store(sent)
      recent.set(name, storing)
      void storing.then(stored => stored ?? recent.delete(name))
      return storing
    },
    recent: (campaign_id, token) => recent.get(nameOf(campaign_id, token)),
    join(sent, click_id) {
      const joining = joinVisit(pool, sent, click_id)
      recent.set(nameOf(sent.campaign.id, sent.token), joining)
      return joining
    },
    async find(token, campaign_id) {
      const stored = campaign_id === undefined ? undefined : await recent.get(nameOf(campaign_id, token))
      return stored?.click_id ?? (await findByToken(pool, parts.live, token, campaign_id).catch(() => undefined))
    },
    async unrecorded(campaign, visit) {
      const arrival = { ...arrivalOf(parts, campaign, visit), isCounted: false }
      const click = clickOfVisit(parts, arrival, await courseWithinCaps(parts, arrival))
      click.way = 'page'
      return click
    },
  }
}

function pageClickOf(
  parts: VisitParts,
  { token, via, page, site }: SentVisit,
  arrival: Arrival,
  course: Course,
  isPaced: boolean,
): Click {
  const click = clickOfVisit(parts, arrival, course)
  click.way = 'page'
  const untracked_reason = isPaced ? 'pace' : untrackedReason(click, null)
  const received_at = new Date(arrival.ms).toISOString()
  click.visit = { token, received_at, via, page, site, untracked_reason }
  return click
}

const JOIN = `
  insert into page_visits (org_id, token, campaign_id, click_id, received_at, via, page, site)
  values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (org_id, token, campaign_id) do nothing`
const FIND_TOKEN = `
  select click_id from page_visits
  where org_id = any($1) and token = $2 and ($3::uuid is null or campaign_id = $3) order by received_at limit 1`
/** A page or a visitor is waiting. */
const WAIT_MS = 1500

/** The token may have a click already: then that one counts. */
async function joinVisit(
  pool: pg.Pool,
  { campaign, token, via, page, site }: SentVisit,
  click_id: string,
): Promise<StoredVisit> {
  const { org_id, id } = campaign
  const note = async () => {
    await pool.query(JOIN, [org_id, token, id, click_id, new Date().toISOString(), via, page, site])
    const { rows } = await pool.query<{ click_id: string }>(FIND_TOKEN, [[org_id], token, id])
    return rows[0]?.click_id
  }
  const noted = await within(WAIT_MS, note()).catch(() => undefined)
  return { click_id: noted ?? click_id, isJoined: true }
}

async function findByToken(
  pool: pg.Pool,
  { campaign, all }: Pick<LiveCampaigns, 'campaign' | 'all'>,
  token: string,
  campaign_id: string | undefined,
): Promise<string | undefined> {
  const of = campaign_id === undefined ? [...all()].filter(({ sites }) => sites.length > 0) : [campaign(campaign_id)]
  const org_ids = [...new Set(of.flatMap(one => one?.org_id ?? []))]
  const { rows } = await within(
    WAIT_MS,
    pool.query<{ click_id: string }>(FIND_TOKEN, [org_ids, token, campaign_id ?? null]),
  )
  return rows[0]?.click_id
}
