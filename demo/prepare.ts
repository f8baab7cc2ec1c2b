// Makes the demo, or finds the existing one.
import { sql } from 'kysely'
import { DAY_MS } from '../src/contract/days.ts'
import type { Ground } from '../src/ground/room.ts'
import { ensurePartitions } from '../src/ground/db/partitions.ts'
import { openFolder } from '../src/reading/reports/fold.ts'
import { announceChange } from '../src/traffic/campaigns/live.ts'
import { auditDemo } from './audit.ts'
import { keepBooks } from './books.ts'
import { insertBroadcasts } from './broadcasts.ts'
import { placeCaps } from './caps.ts'
import { CAMPAIGNS } from './campaigns.ts'
import { insertLinks } from './channels.ts'
import { insertMembers } from './members.ts'
import { insertDomains } from './domains.ts'
import { placeRule } from './rules.ts'
import { insertSpendAccount } from './spend-account.ts'
import { insertSpreads } from './spreads.ts'
import { insertBooks, insertClicks, insertDeliveries, insertSpend } from './fill.ts'
import type { DemoSummary } from './lines.ts'
import { keepRefused } from './network.ts'
import { insertRates } from './rates.ts'
import { insertReceiver } from './receivers.ts'
import { Outbox } from './outbox.ts'
import { insertUnfilledMacros } from './sources.ts'
import { drawTraffic } from './traffic.ts'
import { insertSubscribers } from './subscribers.ts'
import { insertViews } from './views.ts'
import { admitPerson, findWorkspace, foundWorkspace, makeKey } from './workspace.ts'

type DemoOptions = { seed: string; now: number; scale?: number }
export type Demo = Omit<DemoSummary, 'address' | 'answering' | 'start' | 'now'> & { org_id: number }

/** Days between the organization's creation and its first click. */
const FOUNDED_BEFORE = 4

/** Fills the demo's organization unless an earlier run has, checks it, and gives its person a new password and a new key. */
export async function prepareDemo(ground: Ground, options: DemoOptions): Promise<Demo> {
  const { db, database } = ground
  const { user_id, password } = await admitPerson(ground)
  const there = await findWorkspace(db, user_id)
  const org_id = there?.org_id ?? (await fillWorkspace(ground, user_id, options))
  if (there === undefined) {
    const folder = openFolder(ground)
    await folder.foldAll()
    await folder.close()
    // Without statistics of so many new rows the planner chooses nested loops, which take minutes instead of a second.
    await database.worker.query(
      'analyze clicks, events, event_counts, event_revisions, persons, person_keys, ledger, deliveries, report_day, report_slot',
    )
    await auditDemo(database.worker, org_id, options.now)
  }
  const key = await db.transaction().execute(trx => makeKey(trx, { org_id, user_id }))
  return { org_id, password, key, wasThere: there !== undefined, ...(await readLineValues(ground, org_id)) }
}

async function fillWorkspace(ground: Ground, user_id: string, { seed, now, scale = 1 }: DemoOptions): Promise<number> {
  const { config, db, secrets } = ground
  const today = now - (now % DAY_MS)
  const first = today - Math.max(...CAMPAIGNS.map(({ from }) => from)) * DAY_MS
  await ensurePartitions(ground.database.schema, 'clicks', first, now)
  const { org_id, ids } = await db.transaction().execute(async trx => {
    // Before the transaction, because drawing the traffic can take longer than the pool lets a transaction idle.
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx)
    const founded = first - FOUNDED_BEFORE * DAY_MS
    const workspace = await foundWorkspace(trx, ground, { user_id, founded, today })
    const { org_id, places, offers, network } = workspace
    const { clicks, events } = drawTraffic({ seed, now, scale, org_id, clickKey: secrets.clickKey }, places)
    const byId = new Map(places.map(place => [place.campaign_id, place]))
    const outbox = new Outbox(ground, { ...workspace, seed, places: byId })
    const terms = {
      org_id,
      offers,
      network,
      outbox,
      price: config.pricePerPerson,
      credit: config.welcomeCredit,
      founded,
      now,
    }
    // The books first: they fill in the revenue of the clicks.
    const books = keepBooks(events, terms)
    await insertClicks(trx, clicks)
    await insertRates(trx, { org_id, actor: user_id, founded, now })
    await insertReceiver(trx, { org_id, founded })
    await insertBooks(trx, org_id, books)
    await insertSubscribers(trx, { org_id, seed, now }, books)
    await insertDomains(trx, { org_id, founded, now }, places)
    const capped = await placeCaps(trx, { ...workspace, now, founded })
    await placeRule(trx, { org_id, founded }, places)
    await insertLinks(trx, { org_id, now }, places, clicks)
    await insertMembers(trx, { org_id, seed, now }, books)
    await insertDeliveries(trx, org_id, outbox)
    await insertUnfilledMacros(trx, { org_id, now }, places)
    await insertSpend(trx, org_id, seed, places, clicks, now)
    await insertSpendAccount(trx, { org_id, user_id, seed, now, secrets }, places, clicks)
    await insertSpreads(trx, { org_id, user_id, seed, now }, places, clicks)
    await insertViews(trx, { org_id, user_id, now }, places)
    await insertBroadcasts(trx, { org_id, user_id, seed, now })
    const itsOwn = clicks.filter(({ offer_id }) => offers.get(offer_id ?? '')?.byNetwork === true)
    await keepRefused({ ...ground, db: trx, org_id, seed, now }, network, itsOwn)
    return { ...workspace, ids: [...workspace.ids, ...capped] }
  })
  // A running Sluice polls for changes of the last seconds, and this transaction took longer.
  await Promise.all(ids.map(id => announceChange(db, org_id, id)))
  return org_id
}

/** The values for the printed lines: the counts, a click without a conversion, and a campaign. */
async function readLineValues({ database }: Ground, org_id: number) {
  const { rows } = await database.reads.query<{
    clicks: number
    conversions: number
    click_id: string
    key: string
    pageKey: string
  }>(
    `select (select count(*)::int from clicks where org_id = $1) as clicks,
       (select count(*)::int from events where org_id = $1) as conversions, c.id as click_id, k.key,
       coalesce((select key from campaigns where org_id = $1 and sites <> '{}' and deleted_at is null order by id limit 1), k.key) as "pageKey"
     from clicks c join campaigns k on k.org_id = $1 and k.id = c.campaign_id
     join offers o on o.org_id = $1 and o.id = c.offer_id
     where c.org_id = $1 and c.tracked and c.status <= 1 and o.payout_types @> '{lead}' and k.deleted_at is null
       and k.destination ->> 'type' = 'redirect' and k.status = 'active'
     order by c.id desc limit 1`,
    [org_id],
  )
  const [seen] = rows
  if (seen === undefined) throw new Error('the demo has no clicks')
  const { key, ...rest } = seen
  return { ...rest, campaignKey: key }
}
