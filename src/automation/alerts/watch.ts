/**
 * Watches workspaces that have receivers: each minute what needs attention, within five minutes behind each full hour whether clicks or conversions
 * have fallen, and once a day the books. Any number of processes may watch, because `tell` begins each episode once.
 */
import type { Kysely } from 'kysely'
import type { AlertKind } from '../../contract/alerts.ts'
import { HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { toWireId } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { type Goals, readGoals } from '../../traffic/event-settings/goals.ts'
import { USUAL_MIN_EXPECTED } from './api.ts'
import { findBooks } from './books.ts'
import { explainFall } from './explain.ts'
import { clickFalls, conversionFalls, type Fall } from './falls.ts'
import { readAlertSettings } from './settings.ts'
import { findStanding, STANDING_KINDS } from './standing.ts'
import { type Alert, isNews, tell } from './tell.ts'

type WatchGround = Pick<Ground, 'database' | 'db' | 'config'>

const PAUSE_MS = MINUTE_MS
/** Clicks of the hour's last seconds are counted by then. */
const SETTLED_MS = MINUTE_MS

/** The largest falls of a look, whose causes are looked for. When a whole workspace falls, the others have the same ones. */
const MOST_EXPLAINED = 20

const WATCHED = (among: Among) => `
  select distinct r.org_id from receivers r join organizations o on o.org_id = r.org_id
  where o.deleted_at is null${among('r.org_id')}`

/** Watches until it is closed. */
export function openAlertWatch(ground: Ground): Rounds {
  const { database, log } = ground
  const lookedAt = new Map<number, number>()
  const round = async (signal: AbortSignal) => {
    const { rows } = await askEverywhere<{ org_id: number }>(database.worker, WATCHED)
    for (const { org_id } of rows) {
      if (signal.aborted) return
      await look(org_id)
    }
  }
  const look = async (org_id: number) => {
    const now = Date.now()
    const hour = Math.floor((now - SETTLED_MS) / HOUR_MS) * HOUR_MS
    const falls = async () => {
      if (lookedAt.get(org_id) === hour) return
      await lookForFalls(ground, org_id, hour)
      lookedAt.set(org_id, hour)
    }
    const looks = [() => lookForStanding(ground, org_id, now), falls, () => lookAtBooks(ground, org_id, now)]
    // A look that fails does not keep the others from being taken, nor other workspaces from being looked at.
    for (const one of looks) await one().catch(onError)
  }
  const onError = (error: unknown) => log.warn({ err: error }, 'could not look for alerts; retrying')
  return openRounds('alerts/watch', PAUSE_MS, round, onError)
}

/** Tells what needs attention at a moment, and what no longer does. */
export async function lookForStanding(ground: WatchGround, org_id: number, now: number): Promise<void> {
  const open = await openEpisodes(ground.db, org_id, STANDING_KINDS)
  await tellAll(ground, org_id, { open, found: await findStanding(ground, org_id, now), now })
}

/** Tells which campaigns have fewer clicks or conversions in the hours before the full hour `to_ms` than the weeks before suggest. */
export async function lookForFalls(ground: WatchGround, org_id: number, to_ms: number): Promise<void> {
  const { database, db } = ground
  const { off, fall } = await readAlertSettings({ db, actor: { org_id } })
  const goals = await readGoals(database.reads, org_id)
  const least = { clicks_fall: USUAL_MIN_EXPECTED, conversions_fall: fall.conversions.min_expected } as const
  for (const [kind, what] of [
    ['clicks_fall', 'clicks'],
    ['conversions_fall', 'conversions'],
  ] as const) {
    const open = await openEpisodes(db, org_id, [kind])
    const asked = { org_id, to_ms, least: least[kind], open: new Set(open.map(({ object_id }) => object_id)) }
    const find = () =>
      kind === 'clicks_fall' ? clickFalls(database.worker, asked) : conversionFalls(database.worker, asked, goals)
    const falls = off.includes(kind) ? [] : await find()
    const alerts = falls
      .toSorted((a, b) => b.expected - b.seen - (a.expected - a.seen))
      .map(one => ({ fall: one, alert: { ...alertOf(kind, what, one), at: new Date(to_ms).toISOString() } }))
    const found = await withCauses(ground, org_id, alerts, kind === 'clicks_fall' ? 'clicks' : goals)
    await tellAll(ground, org_id, { open, found, now: to_ms })
  }
}

/** The alerts with the causes of those that will be told. */
async function withCauses(
  { database, db }: WatchGround,
  org_id: number,
  alerts: readonly { readonly fall: Fall; readonly alert: Alert & { readonly at: string } }[],
  of: 'clicks' | Goals,
): Promise<Alert[]> {
  const found: Alert[] = []
  let explained = 0
  for (const { fall, alert } of alerts) {
    const isExplained = explained < MOST_EXPLAINED && (await isNews(db, org_id, alert))
    if (isExplained) explained += 1
    const to_ms = Date.parse(alert.at)
    const causes = isExplained ? await explainFall(database.worker, org_id, { fall, to_ms, of }) : []
    found.push({ ...alert, causes })
  }
  return found
}

async function lookAtBooks(ground: WatchGround, org_id: number, now: number): Promise<void> {
  const alert = await findBooks(ground, org_id, now)
  if (alert !== undefined) await ground.db.transaction().execute(trx => tell(trx, org_id, alert))
}

function alertOf(kind: AlertKind, what: string, { campaign_id, name, hours, seen, expected }: Fall): Alert {
  const about = hours === 1 ? 'the last hour' : `the last ${hours} hours`
  const usual = Math.round(expected)
  return {
    kind,
    phase: 'begins',
    episode_key: `${kind} ${campaign_id}`,
    object: { kind: 'campaign', id: campaign_id, name },
    rule: null,
    figure: (expected - seen).toFixed(2),
    text: `“${name}” had ${seen} ${what} in ${about}. The same hours of the four weeks before had ${usual} on average.`,
    figures: { [what]: seen, expected: Number(expected.toFixed(2)), hours },
    url: `/campaigns/${toWireId(campaign_id)}`,
  }
}

/**
 * Tells what was found, and ends those of the episodes `open` that were not. They were read before the look, so that an episode that another process
 * begins meanwhile does not end.
 */
async function tellAll(
  { db }: Pick<Ground, 'db'>,
  org_id: number,
  {
    open,
    found,
    now,
  }: { readonly open: readonly OpenEpisode[]; readonly found: readonly Alert[]; readonly now: number },
): Promise<void> {
  const still = new Set(found.map(({ episode_key }) => episode_key))
  const over = open.filter(({ key }) => !still.has(key))
  if (found.length === 0 && over.length === 0) return
  await db.transaction().execute(async trx => {
    for (const alert of found) await tell(trx, org_id, alert)
    for (const episode of over) await tell(trx, org_id, endOf(episode, now))
  })
}

type OpenEpisode = Awaited<ReturnType<typeof openEpisodes>>[number]

async function openEpisodes(db: Kysely<Tables>, org_id: number, kinds: readonly AlertKind[]) {
  return await db
    .selectFrom('alert_episodes')
    .select(['key', 'kind', 'object_kind', 'object_id', 'object_name'])
    .where('org_id', '=', org_id)
    .where('kind', 'in', kinds)
    .where('over_at', 'is', null)
    .execute()
}

const endOf = ({ key, kind, object_kind, object_id, object_name }: OpenEpisode, now: number): Alert => ({
  kind: kind as AlertKind,
  phase: 'over',
  episode_key: key,
  object: { kind: object_kind, id: object_id, name: object_name },
  rule: null,
  text: `This is over${object_name === null ? '' : ` for “${object_name}”`}.`,
  figures: {},
  url: object_kind === 'campaign' && object_id !== null ? `/campaigns/${toWireId(object_id)}` : '/',
  at: new Date(now).toISOString(),
})
