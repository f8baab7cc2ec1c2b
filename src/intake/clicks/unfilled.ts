/**
 * What traffic sources did not fill in, counted by campaign, UTC day and field behind the clicks, for the warnings on a campaign's page. Owns
 * `source_faults`. Clicks that count are looked at, and only where a field of the source is missing. A crash, or a database that is away, loses what was not yet written.
 */
import type pg from 'pg'
import type { Logger } from 'pino'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import type { Call } from '../../contract/endpoint.ts'
import { cut, faithful } from '../../contract/texts.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { type Rounds, openRounds } from '../../ground/rounds.ts'
import type * as api from './api.ts'
import type { Traffic } from './course.ts'
import { isUnreplaced, NOTHING, type Parameters } from './parameters.ts'

type Fault = { field: string; fault: 'unreplaced' | 'too_long'; parameter: string; value: string }
type Counted = Fault & { org_id: number; campaign_id: string; day: string; clicks: number }

const EVERY_MS = 10_000
/** Of one process between two rounds; what is more is not counted. */
const MOST_KEPT = 10_000
const SHOWN_DAYS = 7
const KEPT_DAYS = 30
/** As much of a value as tells which macro it is. */
const VALUE_BYTES = 120

const WRITE = `
  insert into source_faults as f (org_id, campaign_id, day, field, fault, parameter, value, clicks)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (org_id, campaign_id, day, field, fault)
  do update set parameter = excluded.parameter, value = excluded.value, clicks = f.clicks + excluded.clicks`
const FORGET = 'delete from source_faults where org_id = $1 and campaign_id = $2 and day < $3'

export type Unfilled = Rounds & {
  /** Notes what of a counted click's query could not be kept. */
  note(traffic: Traffic, parameters: Parameters, url: string, ms: number): void
  /** Writes what is noted. */
  flush(): Promise<void>
}

/** Opens the notes; `pool` is the one for housekeeping. */
export function openUnfilled(pool: pg.Pool, log: Logger): Unfilled {
  let noted = new Map<string, Counted>()

  const writeAll = async () => {
    const counted = [...noted].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
    noted = new Map()
    for (const { org_id, campaign_id, day, field, fault, parameter, value, clicks } of counted)
      await pool.query(WRITE, [org_id, campaign_id, day, field, fault, parameter, value, clicks])
    for (const { org_id, campaign_id, day } of counted)
      await pool.query(FORGET, [org_id, campaign_id, dayOf(Date.parse(day) - KEPT_DAYS * DAY_MS)])
  }
  const onError = (error: unknown) => log.debug({ err: error }, 'what sources left unfilled could not be written')
  const rounds = openRounds('clicks/unfilled', EVERY_MS, writeAll, onError)

  return {
    note(traffic, parameters, url, ms) {
      const { source, campaign, read } = traffic
      if (source === undefined || source.parameters.every(({ field }) => isKept(parameters, field))) return
      const faults = new Map<string, Fault>()
      read(url, (field, parameter, sent) => {
        const value = cut(faithful(sent), VALUE_BYTES)
        const fault = field === 'ref_id' && value !== sent && !isUnreplaced(sent) ? 'too_long' : 'unreplaced'
        if (!isKept(parameters, field) && !NOTHING.has(sent)) faults.set(field, { field, fault, parameter, value })
      })
      const day = dayOf(ms)
      for (const fault of faults.values()) {
        const key = `${campaign.org_id} ${campaign.id} ${day} ${fault.field} ${fault.fault}`
        const clicks = (noted.get(key)?.clicks ?? 0) + 1
        if (clicks > 1 || noted.size < MOST_KEPT)
          noted.set(key, { ...fault, org_id: campaign.org_id, campaign_id: campaign.id, day, clicks })
      }
    },
    flush: () => writeAll().catch(onError),
    async close() {
      await rounds.close()
      await writeAll().catch(onError)
    },
  }
}

/** Cost and currency are not among what a click's row keeps of its query. */
const isKept = (parameters: Parameters, field: string): boolean =>
  !(field in parameters) || parameters[field as keyof Parameters] !== null

/** The deed of the warnings of a campaign: what its clicks of the last days lacked, the most first. */
export function sourceFaultReader(unfilled: Pick<Unfilled, 'flush'>) {
  return async ({ db, actor }: Context<typeof api.readSourceFaults>, { params }: Call<typeof api.readSourceFaults>) => {
    await unfilled.flush()
    const data = await db
      .selectFrom('source_faults')
      .select(({ fn }) => [
        'field',
        'fault',
        fn.max('parameter').as('parameter'),
        fn.max('value').as('value'),
        fn.sum<string>('clicks').as('clicks'),
      ])
      .where('org_id', '=', actor.org_id)
      .where('campaign_id', '=', idOf(params.id))
      .where('day', '>', dayOf(Date.now() - SHOWN_DAYS * DAY_MS))
      .groupBy(['field', 'fault'])
      .execute()
    const rows = data.map(row => ({ ...row, fault: row.fault as Fault['fault'], clicks: Number(row.clicks) }))
    return { data: rows.toSorted((a, b) => b.clicks - a.clicks) }
  }
}
