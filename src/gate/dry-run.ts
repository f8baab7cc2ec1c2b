/**
 * Dry runs of tools: the whole call runs, with its checks and its refusals, and is rolled back; the answer says what would happen. A conversion is
 * worked out by its queue, because no other transaction writes conversions.
 */
import type { HistoryKind } from '../contract/history.ts'
import { toWireId } from '../contract/ids.ts'
import { fieldsOf } from '../contract/json.ts'
import { rehearse } from '../ground/db/one-transaction.ts'
import type { FieldChange } from '../ground/history/record.ts'
import type { Furnished, Ground } from '../ground/room.ts'
import type { DecodedCall, DeedContext, Recorder } from '../people/history/recorder.ts'
import { clicksLedBy, type LeadingKind } from '../reading/figures/led-by.ts'

/** What a call would change. `result` is the reply that it would have. */
type Rehearsal = { readonly result: unknown; readonly effects: object }

/** By the name of an endpoint that writes through a queue: what its call would do. */
export type Foresight = Readonly<Record<string, (context: never, call: never) => Promise<object>>>

type DryRunParts = {
  readonly database: Ground['database']
  readonly recorder: Recorder | undefined
  readonly foresight: Foresight
}

/** Works out a call and keeps nothing of it. Refuses as the call would be refused. */
export async function tryCall(
  { database, recorder, foresight }: DryRunParts,
  one: Furnished,
  context: DeedContext,
  call: DecodedCall,
): Promise<Rehearsal> {
  const foresee = foresight[one.name]
  if (foresee !== undefined) return { result: undefined, effects: await foresee(context as never, call as never) }
  const { history } = one.endpoint
  const { actor } = context
  if (typeof history !== 'string' || recorder === undefined || actor === undefined || !('org_id' in actor))
    throw new Error(`${one.name} has no dry run`)
  const { result, changes } = await rehearse(context.db, async trx => {
    const made = await recorder.run(one, { ...context, db: trx }, call)
    return { result: made, changes: await changesOf(trx, actor.org_id, context.act.act_id) }
  })
  const visitors = await visitorsOf(database, actor.org_id, changes)
  const calls = await pendingCallsOf(database, actor.org_id, changes)
  const sent = fieldsOf(call.body)
  return { result, effects: { changes: changes.map(change => shownChange(change, sent)), ...visitors, ...calls } }
}

type Change = {
  readonly kind: HistoryKind
  readonly object_id: string | null
  readonly object_name: string
  readonly change: 'created' | 'changed' | 'deleted'
  readonly fields: readonly FieldChange[]
}

/** The rows that the history would have of the call. */
async function changesOf(trx: Ground['db'], org_id: number, act_id: string): Promise<Change[]> {
  return await trx
    .selectFrom('history')
    .select(['kind', 'object_id', 'object_name', 'change', 'fields'])
    .where('org_id', '=', org_id)
    .where('act_id', '=', act_id)
    .orderBy('id')
    .$castTo<Change>()
    .execute()
}

/** Fields of which keys learn only that they change: an address may hold a partner's token, and no right reads a graph. */
const WITHHELD: Partial<Record<Change['kind'], readonly string[]>> = { postback: ['url'], click_flow: ['graph'] }
/** Fields that Sluice sets at a creation unless they are sent; the call itself would set others. */
const MADE_UP: ReadonlySet<string> = new Set(['id', 'created_at', 'key'])

function shownChange({ kind, object_id, object_name, change, fields }: Change, sent: object): object {
  const isMadeUp = ({ name }: FieldChange) => change === 'created' && MADE_UP.has(name) && !Object.hasOwn(sent, name)
  const shown = fields
    .filter(field => change === 'changed' || (!isMadeUp(field) && !isEmpty(field)))
    .map(field => (WITHHELD[kind]?.includes(field.name) ? { name: field.name, is_secret: true } : field))
  const id = object_id === null || change === 'created' ? {} : { id: toWireId(object_id) }
  return { kind, ...id, name: object_name, change, fields: shown }
}

const isEmpty = (field: FieldChange): boolean => 'before' in field && field.before === null && field.after === null

/** The fields that decide where visitors go, by kind. */
const LEADING: Readonly<Record<LeadingKind, readonly string[]>> = {
  campaign: ['destination', 'status', 'domain_id'],
  offer: ['url', 'status'],
  landing: ['url', 'status'],
  funnel: ['landings', 'offers'],
  click_flow: ['published_version', 'status'],
}
const VISITOR_DAYS = 7

const isLeading = (kind: Change['kind']): kind is LeadingKind => Object.hasOwn(LEADING, kind)

/** The visitors of the last days who took a way that would change; nothing if no way changes. */
async function visitorsOf(database: Ground['database'], org_id: number, changes: readonly Change[]): Promise<object> {
  const counts: (number | null)[] = []
  for (const { kind, object_id: id, change, fields } of changes) {
    if (!isLeading(kind) || id === null || change === 'created') continue
    const names = LEADING[kind]
    if (change === 'deleted' || fields.some(({ name }) => names.includes(name)))
      counts.push(await clicksLedBy(database, org_id, { kind, id, days: VISITOR_DAYS }))
  }
  if (counts.length === 0) return {}
  const at_most = counts.includes(null) ? null : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
  return { visitors_elsewhere: { days: VISITOR_DAYS, at_most } }
}

const PENDING_CALLS = `
  select count(*)::int as pending from deliveries
  where org_id = $1 and kind = 'postback' and target_id = $2 and state in ('pending', 'held')`

/** The calls that wait for a rule that would be deleted, and would never be made. */
async function pendingCallsOf(
  { reads }: Ground['database'],
  org_id: number,
  changes: readonly Change[],
): Promise<object> {
  const deleted = changes.find(({ kind, change }) => kind === 'postback' && change === 'deleted')
  if (deleted === undefined) return {}
  const { rows } = await reads.query<{ pending: number }>(PENDING_CALLS, [org_id, deleted.object_id])
  return { pending_calls_dropped: rows[0]?.pending ?? 0 }
}

/** The parts of a reply that say what a call leads to. */
const CONSEQUENCES = ['warnings', 'campaigns_on_fallback', 'problems']

/** The answer to a dry run: the effects, and the consequences in the reply that the call would have. */
export function dryRunAnswer(reply: unknown, effects: object): object {
  const of = fieldsOf(reply)
  const consequences = CONSEQUENCES.filter(name => Object.hasOwn(of, name)).map(name => [name, of[name]] as const)
  return { dry_run: true, ...effects, ...Object.fromEntries(consequences) }
}
