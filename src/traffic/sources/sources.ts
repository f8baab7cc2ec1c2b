/**
 * Traffic sources: the parameters and macros with which a source sends its data of a click. Owns `traffic_sources`. A source that campaigns use
 * cannot be deleted, because their clicks are read by it. Deletion is soft. The values of a template are copied, and only users change them.
 */
import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { USD } from '../../contract/currencies.ts'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { CHECKED_ON, sourceTemplateOf, SOURCE_TEMPLATES } from '../../contract/source-templates/all.ts'
import type { SourceTemplate } from '../../contract/source-templates/source-template.ts'
import { isTaken } from '../../ground/db/faults.ts'
import { newestFirstFile } from '../../ground/db/list-file.ts'
import { nameHolds, newestFirst, picked, type Wanted } from '../../ground/db/lists.ts'
import { undelete } from '../../ground/db/undelete.ts'
import { hasTag, noteDeed, tagsDeed } from '../../ground/db/labels.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { betweenConversions, readMoment } from '../../money/billing/balance.ts'
import { wantRates } from '../../money/rates/wanted.ts'
import { announceChange } from '../campaigns/live.ts'
import * as api from './api.ts'

const COLUMNS = [
  'id',
  'name',
  'template',
  'parameters',
  'cost_unit',
  'cost_currency',
  'tag_ids',
  'note',
  'created_at',
  'updated_at',
] as const
const campaignCount = (org_id: number) => sql<number>`(
  select count(*)::int from campaigns c
  where c.org_id = ${org_id} and c.traffic_source_id = traffic_sources.id and c.deleted_at is null)`

/** Sources of the organization, newest first. */
export async function listTrafficSources(
  { db, actor }: Context<typeof api.listTrafficSources>,
  { query }: Call<typeof api.listTrafficSources>,
) {
  const { data, next_cursor } = await newestFirst(listed(db, actor.org_id, query), query)
  return { data: data.map(describeSource), next_cursor }
}

/** The listed sources as a CSV file. Refuses `too_many_lines`. */
export async function exportTrafficSources(
  { db, actor }: Context<typeof api.exportTrafficSources>,
  { body }: Call<typeof api.exportTrafficSources>,
) {
  const rows = listed(db, actor.org_id, picked(body))
  return await newestFirstFile(api.TrafficSource, rows, found => found.map(describeSource))
}

function listed(
  db: Kysely<Tables>,
  org_id: number,
  { ids, q, tag_id }: Wanted<Call<typeof api.listTrafficSources>['query']>,
) {
  let rows = live(db, org_id).select(COLUMNS).select(campaignCount(org_id).as('campaigns'))
  if (ids !== undefined) rows = rows.where('id', 'in', ids)
  if (q) rows = rows.where(nameHolds(q))
  if (tag_id !== undefined) rows = rows.where(hasTag(tag_id))
  return rows.$castTo<SourceRow>()
}

/** The templates of sources, by name. */
export function listSourceTemplates() {
  const data = Object.entries(SOURCE_TEMPLATES).map(([slug, facts]) => ({
    slug,
    name: facts.name,
    kind: facts.kind,
    ...copyOf(facts),
    postback: facts.postback ?? null,
    evidence: facts.evidence,
    is_confirmed: facts.from === undefined,
    checked_on: CHECKED_ON,
  }))
  return { data: data.toSorted((a, b) => a.name.localeCompare(b.name, 'en')) }
}

/** One source. Refuses `object_not_found`. */
export async function readTrafficSource(
  { db, actor }: Context<typeof api.readTrafficSource>,
  { params }: Call<typeof api.readTrafficSource>,
) {
  return describeSource(await sourceOf(db, actor.org_id, idOf(params.id)))
}

/** Creates a source from a template, from its own parameters, or from both. Refuses `already_exists`, and `invalid_request` for an unknown template. */
export async function createTrafficSource(
  { db, actor, database, config }: Context<typeof api.createTrafficSource>,
  { body }: Call<typeof api.createTrafficSource>,
) {
  const facts = sourceTemplateOf(body.template)
  if (body.template != null && facts === undefined)
    refuse('invalid_request', {
      error: 'template: no such template',
      hint: 'GET /api/traffic-sources/templates lists them.',
    })
  const copied = facts && copyOf(facts)
  const now = await readMoment(db, actor.org_id)
  const id = newId()
  await unlessTaken(
    db
      .insertInto('traffic_sources')
      .values({
        org_id: actor.org_id,
        id,
        name: body.name,
        template: body.template ?? null,
        parameters: JSON.stringify(body.parameters ?? copied?.parameters ?? []),
        cost_unit: body.cost_unit ?? copied?.cost_unit ?? null,
        cost_currency: body.cost_currency ?? copied?.cost_currency ?? USD,
        created_at: now,
        updated_at: now,
      })
      .execute(),
  )
  await announceChange(db, actor.org_id, id)
  const made = describeSource(await sourceOf(db, actor.org_id, id))
  if (made.cost_currency !== USD) await wantRates({ pool: database.reads, config })
  return made
}

/** Changes the fields that are sent. Refuses `object_not_found`, `already_exists`. */
export async function updateTrafficSource(
  { db, actor, database, config }: Context<typeof api.updateTrafficSource>,
  { params, body }: Call<typeof api.updateTrafficSource>,
) {
  const { id } = await sourceOf(db, actor.org_id, idOf(params.id))
  const now = await readMoment(db, actor.org_id)
  const { parameters, ...rest } = body
  if (Object.keys(body).length > 0) {
    await unlessTaken(
      db
        .updateTable('traffic_sources')
        .set({ ...rest, ...(parameters && { parameters: JSON.stringify(parameters) }), updated_at: now })
        .where('org_id', '=', actor.org_id)
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .execute(),
    )
    await announceChange(db, actor.org_id, id)
  }
  if (rest.cost_currency !== undefined && rest.cost_currency !== USD) await wantRates({ pool: database.reads, config })
  return describeSource(await sourceOf(db, actor.org_id, id))
}

/** How many campaigns the refusal names. */
const MOST_NAMED = 5

/**
 * Deletes softly. Refuses `object_not_found`, and `traffic_source_in_use` with the campaigns that use it. Runs between conversions, as the choice
 * of a campaign's source does, so that no campaign can choose it meanwhile.
 */
export async function deleteTrafficSource(
  { db, actor }: Context<typeof api.deleteTrafficSource>,
  { params }: Call<typeof api.deleteTrafficSource>,
) {
  const { org_id } = actor
  const id = idOf(params.id)
  await betweenConversions(db, org_id, async (trx, now) => {
    await sourceOf(trx, org_id, id)
    const campaigns = await trx
      .selectFrom('campaigns')
      .select('name')
      .where('org_id', '=', org_id)
      .where('traffic_source_id', '=', id)
      .where('deleted_at', 'is', null)
      .orderBy('id', 'desc')
      .limit(MOST_NAMED + 1)
      .execute()
    if (campaigns.length > 0) refuse('traffic_source_in_use', { error: inUse(campaigns.map(({ name }) => name)) })
    await trx
      .updateTable('traffic_sources')
      .set({ deleted_at: now, updated_at: now })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .execute()
  })
  await announceChange(db, org_id, id)
  return { ok: true as const }
}

function inUse(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ' and others' : ''
  return `the source is used by ${names
    .slice(0, MOST_NAMED)
    .map(name => `"${name}"`)
    .join(', ')}${more}`
}

/** The values that a new source copies from a template. */
function copyOf({ parameters, cost_unit, cost_currency = 'USD' }: SourceTemplate) {
  return {
    parameters: parameters.map(([field, macro, label = null, parameter = field]) => ({
      field,
      parameter,
      macro,
      label,
    })),
    cost_unit: cost_unit ?? null,
    cost_currency,
  }
}

type SourceRow = Omit<api.TrafficSource, 'postback'>

const describeSource = (row: SourceRow): api.TrafficSource => ({
  ...row,
  postback: sourceTemplateOf(row.template)?.postback ?? null,
})

const live = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('traffic_sources').where('traffic_sources.org_id', '=', org_id).where('deleted_at', 'is', null)

async function sourceOf(db: Kysely<Tables>, org_id: number, id: string): Promise<SourceRow> {
  const row = live(db, org_id)
    .select(COLUMNS)
    .select(campaignCount(org_id).as('campaigns'))
    .where('id', '=', id)
    .$castTo<SourceRow>()
  return (await row.executeTakeFirst()) ?? refuse('object_not_found')
}

/** Refuses `already_exists` if another source has the name. */
async function unlessTaken<T>(written: Promise<T>): Promise<T> {
  try {
    return await written
  } catch (error) {
    if (isTaken(error)) refuse('already_exists', { error: 'name: another source has this name' })
    throw error
  }
}

/** Takes back the deletion of a source, for the history. False if it is not deleted. Refuses `already_exists` if its name was given to another. */
export async function restoreTrafficSource(db: Kysely<Tables>, org_id: number, id: string): Promise<boolean> {
  const isRestored = await unlessTaken(
    undelete(db, 'traffic_sources', { org_id, id, at: await readMoment(db, org_id) }),
  )
  await announceChange(db, org_id, id)
  return isRestored
}

export const setTrafficSourceTags = tagsDeed('traffic_sources')
export const setTrafficSourceNote = noteDeed('traffic_sources')
