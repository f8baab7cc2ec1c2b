/**
 * Counts macros that traffic sources did not replace, by campaign, UTC day and field, for the warnings on a campaign's page. Owns
 * `source_faults`. Only clicks that count are checked, and only if a field of the source is missing. Counts that are not written yet are lost
 * in a crash or while the database is away.
 */
import type pg from 'pg'
import type { Logger } from 'pino'
import { isUnreplaced, NOTHING } from '../../contract/unreplaced.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import type { Call } from '../../contract/endpoint.ts'
import { cut, faithful } from '../../contract/texts.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { type Rounds, openRounds } from '../../ground/rounds.ts'
import type * as api from './api.ts'
import type { CompiledCampaign } from './course.ts'
import type { Parameters } from './parameters.ts'

type SourceFault = { field: string; fault: 'unreplaced' | 'too_long'; parameter: string; value: string }
type CountedFault = SourceFault & { org_id: number; campaign_id: string; day: string; clicks: number }

const EVERY_MS = 10_000
/** The most different faults of one process between two writes; more are not counted. */
const MOST_KEPT = 10_000
const SHOWN_DAYS = 7
const KEPT_DAYS = 30
/** Enough of a value to recognise the macro. */
const VALUE_BYTES = 120

const WRITE = `
  insert into source_faults as f (org_id, campaign_id, day, field, fault, parameter, value, clicks)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (org_id, campaign_id, day, field, fault)
  do update set parameter = excluded.parameter, value = excluded.value, clicks = f.clicks + excluded.clicks`
const FORGET = 'delete from source_faults where org_id = $1 and campaign_id = $2 and day < $3'

export type Unfilled = Rounds & {
  /** Counts the fields of a click's query that were not replaced or are too long. */
  note(traffic: CompiledCampaign, parameters: Parameters, url: string, ms: number): void
  /** Writes the counts now. */
  flush(): Promise<void>
}

/** Starts counting; `pool` is the one for background work. */
export function openUnfilled(pool: pg.Pool, log: Logger): Unfilled {
  let counts = new Map<string, CountedFault>()

  const writeAll = async () => {
    const counted = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
    counts = new Map()
    for (const { org_id, campaign_id, day, field, fault, parameter, value, clicks } of counted)
      await pool.query(WRITE, [org_id, campaign_id, day, field, fault, parameter, value, clicks])
    for (const { org_id, campaign_id, day } of counted)
      await pool.query(FORGET, [org_id, campaign_id, dayOf(Date.parse(day) - KEPT_DAYS * DAY_MS)])
  }
  const onError = (error: unknown) => log.debug({ err: error }, 'could not write the counts of unreplaced macros')
  const rounds = openRounds('clicks/unfilled', EVERY_MS, writeAll, onError)

  return {
    note(traffic, parameters, url, ms) {
      const { source, campaign, read } = traffic
      if (source === undefined || source.parameters.every(({ field }) => isKept(parameters, field))) return
      const faults = new Map<string, SourceFault>()
      read(url, (field, parameter, sent) => {
        const value = cut(faithful(sent), VALUE_BYTES)
        const fault = field === 'ref_id' && value !== sent && !isUnreplaced(sent) ? 'too_long' : 'unreplaced'
        if (!isKept(parameters, field) && !NOTHING.has(sent)) faults.set(field, { field, fault, parameter, value })
      })
      const day = dayOf(ms)
      for (const fault of faults.values()) {
        const key = `${campaign.org_id} ${campaign.id} ${day} ${fault.field} ${fault.fault}`
        const clicks = (counts.get(key)?.clicks ?? 0) + 1
        if (clicks > 1 || counts.size < MOST_KEPT)
          counts.set(key, { ...fault, org_id: campaign.org_id, campaign_id: campaign.id, day, clicks })
      }
    },
    flush: () => writeAll().catch(onError),
    async close() {
      await rounds.close()
      await writeAll().catch(onError)
    },
  }
}

/** Cost and currency always count as stored: a click's row has no column for the text that was sent. */
const isKept = (parameters: Parameters, field: string): boolean =>
  !(field in parameters) || parameters[field as keyof Parameters] !== null

/** The deed of `GET /api/campaigns/:id/source-faults`: the faults of the last seven days, most frequent first. */
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
    const rows = data.map(row => ({ ...row, fault: row.fault as SourceFault['fault'], clicks: Number(row.clicks) }))
    return { data: rows.toSorted((a, b) => b.clicks - a.clicks) }
  }
}
