/**
 * Moves the weights of a split test through the endpoints that a person would use, as Sluice itself. Owns no table. A move, its rows in the history
 * and its time are one transaction, which first locks the objects and then checks that no process has looked at the test meanwhile and that its
 * weights are the ones that were judged.
 */
import { z } from 'zod'
import { HOUR_MS } from '../../contract/days.ts'
import { Graph } from '../../contract/flow-graph.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import { inOneTransaction } from '../../ground/db/one-transaction.ts'
import { type Act, type HistoryObject, lockHistory } from '../../ground/history/record.ts'
import type { Ground } from '../../ground/room.ts'
import type { SplitTest } from '../../reading/split-tests/api.ts'
import { judgedTests, nextDayIn } from '../../reading/split-tests/tests.ts'
import { type DueTest, isStillDue, storeLook, storeMove } from '../../traffic/automatic-weights/moves.ts'
import { flowOf } from '../../traffic/click-flows/stored.ts'
import { nameOfTest, testObject } from '../../traffic/test-ends/history.ts'
import { type FunnelMember, membersOf, weightFor, withWeights } from '../own-acts/funnel-members.ts'
import { callAsSluice, type Tools } from '../own-acts/calls.ts'
import { isWorthwhile, sharesOf } from './shares.ts'

/** A test that is not moved is looked at again after this time. */
export const LOOK_MS = HOUR_MS

type Mover = { readonly ground: Ground; readonly tools: Tools }
type Moving = Mover & { readonly trx: Parameters<typeof isStillDue>[0]; readonly due: DueTest; readonly act: Act }

/** The new share of each variant, in percent. `weight` is the one that it had when the test was judged. */
type NewShare = { readonly id: string; readonly weight: number; readonly share: number }

/**
 * Looks at a due test, and moves its weights if that changes something. Refuses what the endpoints refuse; nothing was done then.
 * @throws the error of the database; nothing was done then
 */
export async function lookAtTest(mover: Mover, due: DueTest): Promise<void> {
  const { of, org_id, object_id: id, test, zone } = due
  // Another process may have looked while this one looked at other tests.
  if (!(await isStillDue(mover.ground.db, due))) return
  const [judged] = of === null ? [] : await judgedTests(mover.ground, org_id, { of, id, test })
  const shares = newShares(judged)
  await inOneTransaction(mover.ground.db, async trx => {
    const object: HistoryObject[] = of === null ? [] : [{ kind: of, id }, testObject(id, nameOfTest(of, test))]
    await lockHistory(trx, org_id, object)
    if (!(await isStillDue(trx, due))) return
    const act: Act = { act_id: newId(), actor: { kind: 'sluice', because: 'schedule' } }
    const moving = { ...mover, trx, due, act }
    const moved = shares === undefined ? undefined : await (of === 'funnel' ? moveFunnel : moveFlow)(moving, shares)
    // Visitors get the new weights from about now on, which may be seconds after the look began.
    const moved_ms = Date.now()
    if (moved !== undefined) await storeMove(trx, due, { act_id: act.act_id, moved_ms, ...moved })
    const next_ms = moved === undefined ? moved_ms + LOOK_MS : nextDayIn(zone, moved_ms)
    await storeLook(trx, due, { next_ms, refused: null })
  })
}

/** The shares that a test should have. Undefined while it waits, was ended or is gone, and if they would be the same. */
function newShares(test: SplitTest | undefined): NewShare[] | undefined {
  if (test === undefined || !test.automatic || test.state === 'ended') return undefined
  const { waits_for } = test.weight_moves
  if (waits_for !== null && waits_for !== 'refused') return undefined
  // Without revenue, variants are compared by their conversions.
  const isOfMoney = test.variants.some(({ epv }) => epv.mean > 0)
  const shares = sharesOf(test.variants.map(({ epv, rate }) => (isOfMoney ? epv : rate).best))
  const weights = test.variants.map(({ weight }) => weight)
  if (!isWorthwhile(weights, shares)) return undefined
  return test.variants.map(({ id, weight }, at) => ({ id, weight, share: shares[at] ?? 0 }))
}

/** Undefined if the weights are not the ones that were judged. */
type Moved = { readonly version: number | null } | undefined

async function moveFunnel(moving: Moving, shares: readonly NewShare[]): Promise<Moved> {
  const { trx, due, act } = moving
  const { org_id, object_id, test } = due
  const of = test === 'landings' ? 'landings' : 'offers'
  const members = await membersOf(trx, org_id, object_id, of)
  const weights = movedWeights(members, shares)
  if (weights === undefined) return undefined
  await callAsSluice({ ...moving, place: due }, act, {
    endpoint: 'updateFunnel',
    params: { id: toWireId(object_id) },
    body: withWeights(of, members, weights),
  })
  return { version: null }
}

async function moveFlow(moving: Moving, shares: readonly NewShare[]): Promise<Moved> {
  const { trx, due, act } = moving
  const { org_id, object_id, test } = due
  const params = { id: toWireId(object_id) }
  const { name, graph, status, is_draft_published, draft_tag } = await flowOf(trx, org_id, params.id)
  if (!is_draft_published || status !== 'active') return undefined
  const branches = graph.edges.filter(({ from, weight }) => from === test && (weight ?? 0) > 0)
  const weights = movedWeights(
    branches.map(({ to, weight }) => ({ id: to, weight: weight ?? 0 })),
    shares,
  )
  if (weights === undefined) return undefined
  const shared = new Map(branches.map((edge, at) => [edge, weights[at] ?? 0]))
  const edges = graph.edges.map(edge => ({ ...edge, weight: shared.get(edge) ?? edge.weight }))
  const body = { name, graph: z.encode(Graph, { ...graph, edges }), draft_tag }
  const calling = { ...moving, place: due }
  await callAsSluice(calling, act, { endpoint: 'replaceClickFlow', params, body })
  await callAsSluice(calling, act, { endpoint: 'publishClickFlow', params })
  return { version: (await flowOf(trx, org_id, params.id)).published_version }
}

/**
 * The new weights of all members: percents for the variants, and the same proportion as before for members without visitors. Undefined if the
 * variants are not there with the weights that were judged.
 */
function movedWeights(members: readonly FunnelMember[], shares: readonly NewShare[]): number[] | undefined {
  const byId = new Map(shares.map(one => [one.id, one]))
  const variants = members.filter(({ id, weight }) => byId.get(id)?.weight === weight)
  if (variants.length !== shares.length) return undefined
  const all = shares.reduce((sum, { weight }) => sum + weight, 0)
  return members.map(({ id, weight }) => byId.get(id)?.share ?? weightFor((weight / all) * 100))
}
