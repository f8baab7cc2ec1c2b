/** The last steps of the gate: it validates a call, runs its deed, and shapes the reply. gate.ts has the steps before. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { historyKindOf } from '../contract/history.ts'
import { newId, NIL_ID } from '../contract/ids.ts'
import { refuse } from '../contract/refusals.ts'
import type { HistoryActor } from '../ground/history/record.ts'
import { dashboardOrigin } from '../ground/network.ts'
import type { Furnished, Ground } from '../ground/room.ts'
import type { DecodedCall, DeedContext, Recorder } from '../people/history/recorder.ts'
import { handedOut, runConfirmed } from './confirmation.ts'
import { dryRunAnswer, type Foresight, tryCall } from './dry-run.ts'
import type { Once } from './once.ts'
import type { Actor } from './permit.ts'
import { receiptFor } from './receipt.ts'
import { withRoundings } from './rounding.ts'
import { idempotencyKeyOf, parsedBody, parsedQuery, type SentQuery, withFaults } from './sent.ts'
import type { ToolCall } from './tool-call.ts'

/** What deeds need of the gate. */
export type DeedParts = {
  ground: Ground
  once: Once
  /** Runs deeds so that the history records them. Only a gate without writing endpoints does without. */
  recorder?: Recorder
  /** What calls of endpoints that write through a queue would do. */
  foresight?: Foresight
}

/** Sets a header of the reply. */
export type SetHeader = (name: string, value: string) => void

/** Validates the call, runs the deed (through `once` if the endpoint declares it) and encodes its result. */
export function deedRunner({ ground, once, recorder, foresight = {} }: DeedParts, one: Furnished) {
  const { endpoint } = one
  const plain = one.deed as (context: object, call: object) => unknown
  const isRecorded = historyKindOf(endpoint.history) !== undefined
  const run = (context: DeedContext, call: DecodedCall) =>
    isRecorded && recorder !== undefined ? recorder.run(one, context, call) : plain(context, call)
  const { query, body, reply, replyIsShaped } = endpoint
  const encoded = (out: unknown) => (reply === undefined || replyIsShaped ? out : z.encode(reply, out))
  return async (request: FastifyRequest, header: SetHeader): Promise<unknown> => {
    const objection = request.tool?.objection
    if (objection !== undefined) refuse('invalid_request', withFaults(objection, endpoint, request))
    const call = {
      params: request.params,
      query: query === undefined ? undefined : parsedQuery(query, request.query as SentQuery),
      body: endpoint.takesFile ? bytesOf(request) : body && parsedBody(body, request.body, endpoint.misfit),
    }
    const { actor, arrived_at, ip, headers } = request
    const idempotency_key = endpoint.once || endpoint.repeatable ? idempotencyKeyOf(request) : undefined
    const origin = dashboardOrigin(ground.config.baseUrl, headers.host)
    const act_by = { act_id: newId(), actor: historyActor(actor, request.tool) }
    const asked = { ip, origin, idempotency_key, arrived_at, header, act: act_by }
    const context = { ...ground, ...asked, actor }
    const shown = (result: unknown) => {
      const rounded = withRoundings(endpoint, request.body, encoded(result))
      return request.caller.kind === 'key' ? receiptFor(endpoint, request.body, rounded) : rounded
    }
    if (request.tool?.is_dry_run === true) {
      const { result, effects } = await tryCall({ database: ground.database, recorder, foresight }, one, context, call)
      const reply = result === undefined ? undefined : shown(result)
      return { ...dryRunAnswer(reply, effects), ...handedOut(ground, actor, request.tool) }
    }
    const act = async () => shown(await runConfirmed(endpoint, request.tool, context, of => run(of, call)))
    if (!endpoint.once || idempotency_key === undefined || actor === undefined || !('org_id' in actor)) return act()
    return once.run(actor.org_id, idempotency_key, arrived_at, act)
  }
}

/** The file of a request; empty if it has no body. */
const bytesOf = ({ body }: FastifyRequest): Uint8Array => (Buffer.isBuffer(body) ? body : new Uint8Array())

/** Who acts, as the history names them. A call without a person or a key changes nothing that the history records. */
function historyActor(actor: Actor, tool: ToolCall | undefined): HistoryActor {
  if (actor === undefined) return { kind: 'person', id: NIL_ID }
  if (!('kind' in actor) || actor.kind === 'member') return { kind: 'person', id: actor.user_id }
  return { kind: 'key', id: actor.key_id, tool: tool?.tool ?? null, host: tool?.host ?? null }
}
