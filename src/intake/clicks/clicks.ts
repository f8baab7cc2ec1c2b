/**
 * Clicks: visits of campaign links, and visits that pages report. Owns `clicks` and its partitions (the events room updates the columns that conversions
 * change), `page_visits`, `platform_visits`, `click_aliases`, `daily_secrets`, and the journal in DATA_DIR/journal. What must stay true: a click is stored before its redirect leaves, and an id that was
 * handed out is stored once and counted once.
 */
import { join } from 'node:path'
import type pg from 'pg'
import type { Logger } from 'pino'
import { timeOfId } from '../../contract/ids.ts'
import { openSharded } from '../../ground/db/sharing.ts'
import type { Deed, Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import type { LiveCampaigns } from '../../traffic/campaigns/live.ts'
import { type InviteLinks, openInviteLinks } from '../../traffic/invite-links/open.ts'
import { openSpending } from '../../traffic/caps/spending.ts'
import { openPlaces, type Places } from '../../traffic/caps/places.ts'
import type * as api from './api.ts'
import { type Batches, openBatches } from './batch.ts'
import type { Click } from './click.ts'
import { type FoundClicks, openFoundClicks } from './found.ts'
import { organizationOfClick } from './click-id.ts'
import { openGeo } from './geo.ts'
import { openIpHashes } from './ip.ts'
import { type Journal, openJournal } from './journal.ts'
import { type ClicksState, measureClicks } from './metrics.ts'
import { openOutage, type Outage } from './outage.ts'
import { keepPartitions } from '../../ground/db/partitions.ts'
import { type UsdPerUnit, usdAlone } from './rate.ts'
import { openPageVisits, type PageVisits } from './page-visits.ts'
import { redirector } from './redirect.ts'
import { storeVisits } from './store-visits.ts'
import { readTestLink } from './test-link.ts'
import { linkTrier } from './try-link.ts'
import { openUnfilled, sourceFaultReader } from './unfilled.ts'
import { readClicksWhilePaused } from './while-paused.ts'

export type Clicks = {
  /** The deed of `GET /c/:key`. */
  readonly visit: Deed<typeof api.visitCampaign>
  /** The click with this id, a canonical uuid; undefined if there is none. @throws while the database is away. */
  readonly find: FoundClicks['find']
  /** Visits that pages report. */
  readonly pages: PageVisits
  /** The click's own invite link into a channel, for a visitor who comes from a landing. */
  readonly linkFor: InviteLinks['forClick']
  /** The invite link into a channel that all visitors of a campaign share. */
  readonly sharedLink: InviteLinks['shared']
  /** False while clicks whose ids were handed out are still in this process's journal. */
  readonly isSettled: () => boolean
  /** Returns a snapshot: whether clicks of an organization may still be in this process's journal. */
  readonly isKept: () => (org_id: number) => boolean
  /**
   * Returns a snapshot: whether an unknown click may still be in a journal; its conversions are then answered 503. That is any click of an
   * organization with clicks in this process's journal, and after an outage any click made since it began, because another process may still have to
   * store it.
   */
  readonly unsettled: () => (click_id: string) => boolean
  /** Calls `act` with each click that a page's visit in the journal was found to be. The page was shown, so that click has landed. */
  readonly onJoined: Outage['onJoined']
  readonly state: () => ClicksState
  /** The deed of `GET /api/campaigns/:id/source-faults`. */
  readonly readSourceFaults: Deed<typeof api.readSourceFaults>
  /** The deed of `POST /api/campaigns/:id/try-link`. */
  readonly tryLink: Deed<typeof api.tryLink>
  /** Finishes the clicks in progress. Clicks that the database did not take stay in the journal for the next start. */
  readonly close: () => Promise<void>
}

/** How long a visitor waits for an invite link, and for places of a cap, if not the default time. */
export type Patience = { readonly link_ms?: number; readonly place_ms?: number }

/** Creates partitions and secrets, loads the country file, and starts to store clicks that dead processes left in the journal. */
export async function openClicks(
  ground: Ground,
  live: LiveCampaigns,
  usdPerUnit: UsdPerUnit = usdAlone,
  patience: Patience = {},
): Promise<Clicks> {
  const { config, database, db, log, secrets } = ground
  const pool = database.clicks
  const countryOf = openGeo(config)
  const partitions = await keepPartitions(database.schema, 'clicks', log)
  const ipHashes = await openIpHashes(db, log)
  const journal = await openJournal(join(config.dataDir, 'journal'), log, config.journalReserveMb * 1_048_576)
  const reserve = keepReserve(journal, log)
  const isSharded = openSharded(pool)
  const outage = openOutage({ pool, away: database.away, journal, log, isSharded })
  const storing = { pool, clickKey: secrets.clickKey, outage, log, isSharded }
  const batches = openBatches(storing)
  const joining = openBatches({ ...storing, storeBatch: storeJoining })
  const found = openFoundClicks(pool, secrets.clickKey)
  const unfilled = openUnfilled(database.worker, log)
  const places = openPlaces(ground, patience.place_ms)
  const spending = openSpending(ground)
  const links = openInviteLinks(ground, live, patience.link_ms)
  const { object, capsOf } = live
  const caps: Pick<Places, 'isSpent'> = places
  const view = { object, capsOf, isSpent: caps.isSpent }
  const storage = { batches, joining, found, unfilled, secrets }
  const parts = { live, places, spending, links, view, countryOf, ipHashes, usdPerUnit, ...storage }
  const receive = redirector(parts)
  const counts = () => sumOf(batches.state(), joining.state())
  const state = () => ({ ...counts(), ...journal.state(), is_down: outage.isDown() })
  const measured = measureClicks(state)
  return {
    visit: (_ground, visit) => receive(visit),
    find: found.find,
    pages: openPageVisits(parts, pool),
    linkFor: asked => links.forClick(asked),
    sharedLink: asked => links.shared(asked),
    isSettled: outage.isSettled,
    isKept: outage.isKept,
    onJoined: outage.onJoined,
    unsettled: () => unsettled(secrets.clickKey, outage.isKept(), database.away.since()),
    state,
    readSourceFaults: sourceFaultReader(unfilled),
    tryLink: linkTrier(live, usdPerUnit),
    async close() {
      measured()
      partitions.close()
      ipHashes.close()
      await Promise.all([batches.idle(), joining.idle()])
      await places.close()
      await spending.close()
      await links.close()
      await unfilled.close()
      await outage.close()
      await reserve.close()
      await journal.close()
    },
  }
}

/** How soon the reserve is set aside again once the disk has room. */
const RESERVE_MS = 10_000

const keepReserve = (journal: Journal, log: Logger): Rounds =>
  openRounds('clicks/reserve', RESERVE_MS, journal.setAside, error =>
    log.warn({ err: error }, 'could not set the reserve of the journal aside; retrying'),
  )

/** Organization by organization, because each has keys of its own. */
async function storeJoining(pool: pg.Pool, clicks: readonly Click[], isAgain: boolean): Promise<void> {
  for (const [org_id, own] of Map.groupBy(clicks, click => click.org_id)) await storeVisits(pool, org_id, own, isAgain)
}

type BatchCounts = ReturnType<Batches['state']>

const sumOf = (one: BatchCounts, other: BatchCounts): BatchCounts => ({
  waiting: one.waiting + other.waiting,
  in_flight: one.in_flight + other.in_flight,
  stored: one.stored + other.stored,
  journaled: one.journaled + other.journaled,
  lost: one.lost + other.lost,
  batches: one.batches + other.batches,
})

/** How far another process's clock may be ahead of this one. */
const AHEAD_MS = 10_000

function unsettled(
  clickKey: Uint8Array,
  isKept: (org_id: number) => boolean,
  since: number | undefined,
): (click_id: string) => boolean {
  return click_id => {
    const org_id = organizationOfClick(clickKey, click_id)
    if (org_id !== undefined && isKept(org_id)) return true
    const made = timeOfId(click_id)
    return since !== undefined && made >= since && made <= Date.now() + AHEAD_MS
  }
}

/** The deeds of the room, for `room(clicksApi, clickDeeds(clicks))`. */
export function clickDeeds(clicks: Clicks) {
  const { visit, readSourceFaults, tryLink } = clicks
  return { visitCampaign: visit, readTestLink, readClicksWhilePaused, readSourceFaults, tryLink }
}
