/**
 * Acts on a heap: records the conversions that are missing here, or gives conversions the amount and status of the file. Each line goes through the
 * organization's queue, like a postback or a status change, so that repeating an act changes nothing.
 */
import type { Call } from '../../contract/endpoint.ts'
import { toWireId } from '../../contract/ids.ts'
import { USD } from '../../contract/currencies.ts'
import { MAX_PAYOUT } from '../../contract/fields.ts'
import { REFUSALS, type RefusalName } from '../../contract/refusal-catalogue.ts'
import { Refusal, refusalBody } from '../../contract/refusals.ts'
import { hasAmount } from '../../contract/revisions.ts'
import type { Context } from '../../ground/room.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import type { Conversions } from '../events/conversions.ts'
import { readConversion } from '../events/intake.ts'
import type { Conversion, Revision } from '../events/items.ts'
import { isStandingChange, nextStanding } from '../events/standing.ts'
import type * as api from './api.ts'
import { type Compared, type ComparedLine, type Comparison, isUnpaid, moneyOf } from './compare.ts'
import { type Candidate, ownNonceOf } from './match.ts'

type ActContext = Context<typeof api.actOnReconciliation> & {
  readonly conversions: Pick<Conversions, 'record' | 'revise'>
}
type Chosen = Call<typeof api.actOnReconciliation>['body']

/** Lines that wait in the queue at a time: a batch of it. */
const PORTION = 500

/** The result of each line of the heap, except those left out. Unless it is a dry run, does what can be done. */
export async function actOn(context: ActContext, file: Compared, { lines }: Comparison, body: Chosen) {
  const leftOut = new Set(body.leave_out)
  const chosen = lines.filter(({ heap, line }) => heap === body.heap && !leftOut.has(line.line))
  const data: api.ActedLine[] = []
  for (let from = 0; from < chosen.length; from += PORTION) {
    const portion = chosen.slice(from, from + PORTION)
    const clicks = body.act === 'record' ? await knownClicks(context, portion) : new Set<string>()
    const planned = portion.map(one => ({ one, plan: planOf(file, one, clicks) }))
    data.push(
      ...(await Promise.all(
        planned.map(async ({ one, plan }) =>
          body.dry_run || plan.fate !== 'changes' ? plan : await perform(context, file, one, plan),
        ),
      )),
    )
  }
  const count = (fate: api.ActedLine['fate']) => data.filter(one => one.fate === fate).length
  return {
    dry_run: body.dry_run,
    act_id: body.dry_run ? null : context.act.act_id,
    changed: count('changes'),
    same: count('same'),
    refused: count('refused'),
    data,
  }
}

/** The clicks of these lines that are stored, also under an id that was found to be another click's. */
async function knownClicks({ database, actor }: ActContext, lines: readonly ComparedLine[]): Promise<Set<string>> {
  const ids = [...new Set(lines.flatMap(({ line }) => line.click_id ?? []))].sort()
  const { rows } = await database.reads.query<{ id: string }>(
    `select id from clicks where org_id = $1 and id = any($2::uuid[]) and id between $3 and $4
     union all
     select id from click_aliases where org_id = $1 and id = any($2::uuid[])`,
    [actor.org_id, ids, ids[0] ?? null, ids.at(-1) ?? null],
  )
  return new Set(rows.map(({ id }) => id))
}

function planOf({ network }: Compared, one: ComparedLine, clicks: ReadonlySet<string>): api.ActedLine {
  const { line, match, amount_usd } = one
  const name = line.transaction_id ?? (line.click_id === null ? line.click_text : toWireId(line.click_id))
  const row = { line: line.line, id: null, name, fields: [], code: null, error: null, made_id: null }
  const isTooMuch = amount_usd !== null && toMillionths(amount_usd) > toMillionths(String(MAX_PAYOUT))
  if (isTooMuch) return refused({ ...row, fate: 'refused' }, 'amount_too_large')
  if (match !== undefined && 'event' in match)
    return revisionPlan({ ...row, id: match.event.event_id }, match.event, one)
  if (line.click_id === null || !clicks.has(line.click_id))
    return refused({ ...row, fate: 'refused' }, 'click_not_found')
  if (!hasAmount(line.status)) {
    const error = `the network says ${line.status}, so there is nothing to record`
    return { ...row, fate: 'refused', code: 'nothing_to_record', error }
  }
  const amount = isUnpaid(line, network) ? '0' : amount_usd
  const fields = [
    { name: 'status', before: null, after: line.status },
    ...(amount === null ? [] : [{ name: 'amount', before: null, after: amount }]),
  ]
  return { ...row, fate: 'changes', fields }
}

function refused(row: api.ActedLine, name: RefusalName): api.ActedLine {
  const { error, code = null } = REFUSALS[name]
  return { ...row, fate: 'refused', fields: [], code: code ?? name, error }
}

function revisionPlan(
  row: Omit<api.ActedLine, 'fate'>,
  event: Candidate,
  { line, amount_usd }: ComparedLine,
): api.ActedLine {
  const amount = hasAmount(line.status) ? (amount_usd ?? undefined) : undefined
  const next = nextStanding(event, event.present, { status: line.status, amount })
  if (!isStandingChange(event.present, next)) return { ...row, fate: 'same' }
  const [before, after] = [event.present, next].map(({ status, amount }) => ({
    status,
    amount: fromMillionths(amount),
  }))
  const fields = (['status', 'amount'] as const).flatMap(field =>
    before?.[field] === after?.[field]
      ? []
      : [{ name: field, before: before?.[field] ?? null, after: after?.[field] ?? null }],
  )
  return { ...row, fate: 'changes', fields }
}

/** Does what was planned for a line. A refusal is the line's alone. */
async function perform(
  context: ActContext,
  file: Compared,
  one: ComparedLine,
  plan: api.ActedLine,
): Promise<api.ActedLine> {
  const { conversions } = context
  try {
    if (one.match !== undefined && 'event' in one.match) {
      const { isNew } = await conversions.revise(revisionOf(context, file, one, one.match.event))
      return isNew ? plan : { ...plan, fate: 'same', fields: [] }
    }
    const { event, replayed } = await conversions.record(conversionOf(context, file, one))
    return replayed ? { ...plan, id: event.id, fate: 'same', fields: [] } : { ...plan, made_id: event.id }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return {
      ...plan,
      fate: 'refused',
      fields: [],
      code: refusalBody(error, 'other').code ?? error.refusal,
      error: error.message,
    }
  }
}

function revisionOf(
  { actor, act, arrived_at }: ActContext,
  { network }: Compared,
  one: ComparedLine,
  event: Candidate,
): Revision {
  const { line, usd_per_unit } = one
  const { org_id, user_id } = actor
  const amount = hasAmount(line.status) ? line.amount : null
  const isForeign = amount !== null && line.currency !== null && line.currency !== USD && /[1-9]/.test(amount)
  return {
    kind: 'revision',
    org_id,
    click_id: event.click_id,
    of: { event_id: event.event_id },
    status: line.status,
    amount: isForeign || amount === null ? undefined : (one.amount_usd ?? undefined),
    foreign: isForeign ? { amount, currency: line.currency, usd_per_unit } : undefined,
    reason: 'reconciled',
    source: 'import',
    network_id: null,
    actor: user_id,
    act,
    hold_days: network.hold_days ?? null,
    arrived_at,
  }
}

/** The conversion of a line, as if the network had just reported it, at the rate of its day. */
function conversionOf({ actor, act, arrived_at }: ActContext, file: Compared, one: ComparedLine): Conversion {
  const { line, amount_usd } = one
  const { network_id, network } = file
  const click_id = line.click_id ?? ''
  const isFree = isUnpaid(line, network)
  const sender = {
    org_id: actor.org_id,
    source: 'network',
    campaigns: null,
    key: undefined,
    idempotency_key: undefined,
  } as const
  const conversion = readConversion(
    {
      clickId: click_id,
      type: line.type ?? 'purchase',
      payout: isFree ? '0' : (amount_usd ?? undefined),
      nonce: line.transaction_id ?? ownNonceOf(click_id),
      payload: { network_id: toWireId(network_id), ...(line.sent_status === null ? {} : { status: line.sent_status }) },
    },
    { ...sender, arrived_at },
  )
  const standing = {
    network_id,
    says: line.status === 'pending' ? ('pending' as const) : ('paid' as const),
    amend: false,
    hold_days: network.hold_days ?? null,
    reason: line.sent_status,
  }
  const received_at = line.at === null ? undefined : new Date(line.at).toISOString()
  return {
    ...conversion,
    ...(isFree ? {} : { standing, isByOffer: !line.is_named, money: moneyOf(one) }),
    received_at,
    act,
  }
}
