/** What an object needs and what needs it, checked before a change is put back. */
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { Id } from '../../contract/fields.ts'
import { toUuid } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'

/** ObjectFields that refer to an object: what it is called, its table, and the column of its name. */
const REFERENCES: Readonly<Record<string, readonly [noun: string, table: string, name: string]>> = {
  offer_id: ['offer', 'offers', 'name'],
  then_offer_id: ['offer', 'offers', 'name'],
  landing_id: ['landing', 'landings', 'name'],
  funnel_id: ['funnel', 'funnels', 'name'],
  click_flow_id: ['click flow', 'click_flows', 'name'],
  traffic_source_id: ['traffic source', 'traffic_sources', 'name'],
  ad_account_id: ['ad account', 'ad_accounts', 'name'],
  domain_id: ['domain', 'domains', 'name'],
  campaign_id: ['campaign', 'campaigns', 'name'],
  bot_id: ['bot', 'bots', 'username'],
  channel_id: ['channel', 'channels', 'title'],
}

type Reference = { readonly field: string; readonly id: string }

/** The references anywhere in a value. */
function* referencesIn(value: unknown): Generator<Reference> {
  if (typeof value !== 'object' || value === null) return
  for (const [field, inner] of Object.entries(value)) {
    const id = typeof inner === 'string' && field in REFERENCES ? toUuid(inner) : undefined
    if (id === undefined) yield* referencesIn(inner)
    else yield { field, id }
  }
}

/** Refuses `undo_needs` if the values refer to an object that was deleted, and names it. */
export async function requireNeeds(db: Kysely<Tables>, org_id: number, values: unknown): Promise<void> {
  for (const { field, id } of referencesIn(values)) {
    const [noun, table, column] = REFERENCES[field] ?? ['', '', '']
    const { rows } = await sql<{ name: string; is_gone: boolean }>`
      select ${sql.ref(column)} as name, deleted_at is not null as is_gone from ${sql.table(table)}
      where org_id = ${org_id} and id = ${id}`.execute(db)
    if (rows[0]?.is_gone === false) continue
    const named = rows[0] === undefined ? '' : ` “${rows[0].name}”`
    refuse('undo_needs', { error: `it needs the ${noun}${named}, which was deleted` })
  }
  await requireTags(db, org_id, values)
}

/** The same for tags, of which nothing is left. */
async function requireTags(db: Kysely<Tables>, org_id: number, values: unknown): Promise<void> {
  const { data } = TagLists.safeParse(values)
  const ids = (data ?? []).flatMap(({ tag_ids }) => tag_ids ?? [])
  if (ids.length === 0) return
  const found = await db.selectFrom('tags').select('id').where('org_id', '=', org_id).where('id', 'in', ids).execute()
  const missing = new Set(ids).size - found.length
  if (missing > 0)
    refuse('undo_needs', {
      error: missing === 1 ? 'it needs a tag that was deleted' : `it needs ${missing} tags that were deleted`,
    })
}

const TagLists = z.array(z.object({ tag_ids: z.array(Id).nullish() }))

/** The most objects that a refusal names. */
const MOST_NAMED = 3

/** Refuses `in_use` if a campaign, a funnel or a click flow still names the object, and says which. */
export async function requireUnnamed(db: Kysely<Tables>, org_id: number, id: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select name from campaigns where org_id = ${org_id} and deleted_at is null
      and (domain_id = ${id}::uuid or ad_account_id = ${id}::uuid or traffic_source_id = ${id}::uuid or offer_id = ${id}::uuid
        or strpos(destination::text, ${id}) > 0)
    union all
    select name from funnels where org_id = ${org_id} and deleted_at is null and strpos(landings::text || offers::text, ${id}) > 0
    union all
    select name from click_flows where org_id = ${org_id} and deleted_at is null and strpos(graph::text, ${id}) > 0
    limit ${MOST_NAMED + 1}`.execute(db)
  if (rows.length === 0) return
  const names = rows.slice(0, MOST_NAMED).map(({ name }) => `“${name}”`)
  refuse('in_use', {
    error: `it is used by ${names.join(', ')}${rows.length > MOST_NAMED ? ' and others' : ''}`,
    hint: 'Choose something else there first.',
  })
}
