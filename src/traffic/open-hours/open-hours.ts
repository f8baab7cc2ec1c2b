/**
 * The open hours of offers and campaigns: half hours of a week in a time zone. Owns `open_hours`. The redirect compares them with the clock, so no
 * job has to run when an hour begins.
 */
import { type Kysely, sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { readMoment } from '../../money/billing/balance.ts'
import { announceChange } from '../campaigns/live.ts'
import type * as api from './api.ts'
import { isWithin } from './week.ts'

/** Refuses `object_not_found`. */
export const readOfferHours = (
  { db, actor }: Context<typeof api.readOfferHours>,
  { params }: Call<typeof api.readOfferHours>,
) => read(db, actor.org_id, 'offers', params.id)

/** Refuses `object_not_found`. */
export const readCampaignHours = (
  { db, actor }: Context<typeof api.readCampaignHours>,
  { params }: Call<typeof api.readCampaignHours>,
) => read(db, actor.org_id, 'campaigns', params.id)

/** Holds for the next click. Refuses `object_not_found`. */
export const setOfferHours = (
  { db, actor }: Context<typeof api.setOfferHours>,
  { params, body }: Call<typeof api.setOfferHours>,
) => write(db, actor.org_id, 'offers', params.id, body.open_hours)

/** Holds for the next click. Refuses `object_not_found`. */
export const setCampaignHours = (
  { db, actor }: Context<typeof api.setCampaignHours>,
  { params, body }: Call<typeof api.setCampaignHours>,
) => write(db, actor.org_id, 'campaigns', params.id, body.open_hours)

type Hours = Call<typeof api.setOfferHours>['body']['open_hours']

async function read(db: Kysely<Tables>, org_id: number, table: 'offers' | 'campaigns', id: string) {
  const object_id = await objectOf(db, org_id, table, idOf(id))
  const row = await db
    .selectFrom('open_hours')
    .select(['timezone', 'week'])
    .where('org_id', '=', org_id)
    .where('object_id', '=', object_id)
    .executeTakeFirst()
  return describeHours(row?.week == null ? null : { timezone: row.timezone, week: row.week })
}

async function write(db: Kysely<Tables>, org_id: number, table: 'offers' | 'campaigns', id: string, open_hours: Hours) {
  const object_id = await objectOf(db, org_id, table, idOf(id))
  const now = await readMoment(db, org_id)
  await sql`
    insert into open_hours (org_id, object_id, timezone, week, updated_at)
    values (${org_id}, ${object_id}, ${open_hours?.timezone ?? 'UTC'}, ${open_hours?.week ?? null}, ${now})
    on conflict (org_id, object_id) do update
    set timezone = excluded.timezone, week = excluded.week, updated_at = excluded.updated_at`.execute(db)
  await announceChange(db, org_id, object_id)
  return describeHours(open_hours)
}

const describeHours = (open_hours: Hours) => ({
  open_hours,
  is_open: open_hours === null || isWithin(open_hours, Date.now()),
})

async function objectOf(
  db: Kysely<Tables>,
  org_id: number,
  table: 'offers' | 'campaigns',
  id: string,
): Promise<string> {
  const found = await db
    .selectFrom(table)
    .select('id')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return found?.id ?? refuse('object_not_found')
}
