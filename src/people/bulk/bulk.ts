/**
 * Changes many objects by one call: each through the endpoint that changes a single one, with its checks and its row in the history. All share one
 * transaction and one act; an object that is refused leaves the others. A dry run is the same call, rolled back. Owns no table.
 */
import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { Call } from '../../contract/endpoint.ts'
import type { HistoryKind } from '../../contract/history.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { Refusal, refusalBody, refuse } from '../../contract/refusals.ts'
import { inOneTransaction, rehearse } from '../../ground/db/one-transaction.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { differenceOf, lockHistory, type ObjectSnapshot } from '../../ground/history/record.ts'
import type { Context, Furnished } from '../../ground/room.ts'
import { checkedCall, type Performing } from '../history/perform.ts'
import { readingOf, type Recorder } from '../history/recorder.ts'
import type { Subjects } from '../history/subjects.ts'
import { ACTS, type BulkKind, NOT_ON_ARCHIVED } from './acts.ts'
import * as api from './api.ts'

type BulkContext = Context<typeof api.changeCampaigns>
type BulkCall = Call<typeof api.changeCampaigns>
type AnyDeed = (context: object, call: object) => unknown
type ListPage = { data: readonly { id: string }[]; next_cursor: string | null }
type Tools = { readonly subjects: Subjects; readonly recorder: Recorder }

const PAGE = 200

/** The endpoints that list the objects of each kind. */
const LISTS: Readonly<Record<BulkKind, string>> = {
  campaign: 'listCampaigns',
  offer: 'listOffers',
  landing: 'listLandings',
  funnel: 'listFunnels',
  click_flow: 'listClickFlows',
  traffic_source: 'listTrafficSources',
  postback: 'listPostbackRules',
  subscriber: 'listSubscribers',
}

/** The kinds of objects that fields of an act name; the others name offers. */
const KINDS: Readonly<Record<string, HistoryKind>> = { ad_account_id: 'ad_account', tag_id: 'tag' }

type Doing = { readonly kind: BulkKind; readonly context: BulkContext; readonly act: api.BulkAct }

/** The ids that a filter finds, in the order of the list. Refuses `invalid_request` and `too_many_objects`. */
async function idsOf({ endpoint, deed }: Furnished, context: BulkContext, filter: object): Promise<string[]> {
  const { limit: _, cursor: __, ...shape } = (endpoint.query as z.ZodObject).shape
  const read = z.strictObject(shape).safeParse(filter)
  if (!read.success) refuse('invalid_request', { error: `filter: ${z.prettifyError(read.error)}` })
  const ids: string[] = []
  for (let cursor: string | undefined; ; ) {
    const query = { ...read.data, limit: PAGE, cursor }
    const page = (await (deed as AnyDeed)(context, { params: {}, query, body: undefined })) as ListPage
    ids.push(...page.data.map(({ id }) => id))
    if (ids.length > api.MOST_OBJECTS) refuse('too_many_objects')
    if (page.next_cursor === null) return ids
    cursor = toUuid(page.next_cursor)
  }
}

/** The objects that an act names, by field. */
function namedBy(act: api.BulkAct): Readonly<Record<string, string>> {
  if (act.type === 'replace_offer') return { from_offer_id: act.from_offer_id, to_offer_id: act.to_offer_id }
  if (act.type === 'tag' || act.type === 'untag') return { tag_id: act.tag_id }
  return act.type === 'set_ad_account' && act.ad_account_id !== null ? { ad_account_id: act.ad_account_id } : {}
}

/** Refuses the whole call if an object that the act names is not the workspace's. */
async function requireNamed(subjects: Subjects, { context, act }: Doing): Promise<void> {
  const reading = readingOf(context, context.actor, context.db)
  for (const [field, id] of Object.entries(namedBy(act)))
    if ((await subjects.read(reading, { kind: KINDS[field] ?? 'offer', id })) === undefined)
      refuse('invalid_request', { error: `act.${field}: the workspace has no such object` })
}

/** Changes one object, or says why not. Its writes are rolled back if one of them is refused. */
async function changeOne(
  subjects: Subjects,
  performing: Performing,
  { kind, context, act }: Doing,
  { trx, id }: { readonly trx: Kysely<Tables>; readonly id: string },
): Promise<api.BulkRow> {
  const reading = readingOf(context, context.actor, trx)
  const before = await subjects.read(reading, { kind, id })
  const row = { id, name: before?.name ?? null, fields: [], code: null, error: null, made_id: null }
  if (before === undefined) return { ...row, fate: 'refused', code: 'not_found', error: 'not found' }
  if (before.fields['status'] === 'archived' && NOT_ON_ARCHIVED.has(act.type))
    return { ...row, fate: 'refused', code: 'is_archived', error: 'it is archived: activate it first' }
  const calls = ACTS[kind][act.type]?.({ ...before.fields, id: toWireId(id) }, act) ?? []
  try {
    const made = await trx.transaction().execute(async inner => {
      let last: unknown
      for (const call of calls) last = await checkedCall(performing, context, call).run({ ...context, db: inner })
      return last
    })
    if (act.type === 'clone') return { ...row, fate: 'changes', made_id: (made as { id: string }).id }
    const fields = changed(before, await subjects.read(reading, { kind, id }))
    return { ...row, fate: fields.length === 0 ? 'same' : 'changes', fields }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { code, error: words } = refusalBody(error, 'reads')
    return { ...row, fate: 'refused', code: code ?? error.refusal, error: words }
  }
}

function answerOf(rows: api.BulkRow[], dry_run: boolean, act_id: string) {
  const count = (fate: api.BulkRow['fate']) => rows.filter(row => row.fate === fate).length
  return {
    dry_run,
    act_id: dry_run ? null : act_id,
    changed: count('changes'),
    same: count('same'),
    refused: count('refused'),
    data: dry_run ? rows.map(row => ({ ...row, made_id: null })) : rows,
  }
}

/** The deeds of all kinds. `furnished` are the endpoints that they read and write by. */
export function bulkDeeds({ subjects, recorder }: Tools, furnished: readonly Furnished[]) {
  const byName = new Map(furnished.map(one => [one.name, one]))
  const performing: Performing = { recorder, byName, misfit: { name: 'invalid_request' } }

  const change = (kind: BulkKind) => {
    const list = byName.get(LISTS[kind])
    if (list === undefined) throw new Error(`${LISTS[kind]} is no endpoint`)
    return async (context: BulkContext, { body }: BulkCall) => {
      const { act, dry_run, leave_out } = body
      if (ACTS[kind][act.type] === undefined)
        refuse('invalid_request', {
          error: `act.type: ${act.type} is not possible here: ${Object.keys(ACTS[kind]).join(', ') || 'no act'} is`,
        })
      const wanted = new Set(body.ids ?? (await idsOf(list, context, body.filter ?? {})))
      for (const id of leave_out) wanted.delete(id)
      if (wanted.size > api.MOST_OBJECTS) refuse('too_many_objects')
      const doing: Doing = { kind, context, act }
      await requireNamed(subjects, doing)
      const ids = [...wanted]
      const objects = ids.map(id => ({ kind, id }))
      const rows = await (dry_run ? rehearse : inOneTransaction)(context.db, async trx => {
        // All at once and in order, so that two such calls never wait for each other.
        await lockHistory(trx, context.actor.org_id, objects)
        const done: api.BulkRow[] = []
        for (const id of ids) done.push(await changeOne(subjects, performing, doing, { trx, id }))
        return done
      })
      return answerOf(rows, dry_run, context.act.act_id)
    }
  }

  return {
    changeCampaigns: change('campaign'),
    changeOffers: change('offer'),
    changeLandings: change('landing'),
    changeFunnels: change('funnel'),
    changeClickFlows: change('click_flow'),
    changeTrafficSources: change('traffic_source'),
    changePostbacks: change('postback'),
    changeSubscribers: change('subscriber'),
  }
}

const changed = (before: ObjectSnapshot, after: ObjectSnapshot | undefined): api.BulkRow['fields'] =>
  after === undefined ? [] : ((differenceOf({ before, after }) ?? []) as api.BulkRow['fields'])
