/**
 * A tool call is a request to the route the dashboard uses, made inside this process with the caller's own key: the gate sees it like
 * any other, so rights, roles, quotas and what happens once are decided there and nowhere else.
 */
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import type { RefusalBody } from '../contract/refusals.ts'
import { RIGHTS } from '../contract/rights.ts'
import { toolCall } from '../gate/tool-call.ts'
import type { KeyRecord } from '../people/keys/verify.ts'
import { adviceOn } from './advice.ts'
import type { Json } from './derive.ts'
import { told } from './told.ts'
import type { Tool } from './tool.ts'

/** Who calls, and from where. */
export type Caller = {
  readonly key: string
  readonly record: KeyRecord
  readonly host: string | undefined
  /** The address Sluice is reached at, where it is known. */
  readonly origin: string | undefined
  readonly ip: string
  /** Sets a header of the answer to the outer request. */
  header(name: string, value: string): void
}

/** Calls the tool's route and wraps what it answers. */
export async function callTool(app: FastifyInstance, tool: Tool, given: Json, caller: Caller): Promise<CallToolResult> {
  const { method, url, body, objection } = tool.requestFor(given)
  const mark = { tool: tool.shown.name, record: caller.record, ...(objection === undefined ? {} : { objection }) }
  const response = await toolCall.run(
    mark,
    async () =>
      await app.inject({
        method,
        url,
        remoteAddress: caller.ip,
        headers: {
          'x-api-key': caller.key,
          ...(caller.host === undefined ? {} : { host: caller.host }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      }),
  )
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
    if (response.headers[name] !== undefined) caller.header(name, String(response.headers[name]))
  return resultFor(tool, response, caller, body)
}

/**
 * What the route answered, as the result of the tool. A refusal is a result with `isError` too, never a JSON-RPC error:
 * hosts give results to the model, which reads what to do, and drop errors. The text says it all, because some hosts pass on nothing else.
 */
function resultFor(
  tool: Tool,
  response: LightMyRequestResponse,
  caller: Caller,
  body: Json | undefined,
): CallToolResult {
  const isRefused = response.statusCode >= 400
  const isReplayed = response.headers['idempotent-replayed'] === 'true'
  const answered = isRefused
    ? refusalFor(tool, response, caller)
    : tool.answerFor(response.json<Json>(), { body, isReplayed, origin: caller.origin })
  const text = { type: 'text' as const, text: told(answered) }
  const replayed = { type: 'text' as const, text: 'Already recorded before: this call changed nothing.' }
  return {
    content: isReplayed ? [text, replayed] : [text],
    structuredContent: answered,
    ...(isRefused ? { isError: true } : {}),
  }
}

function refusalFor(tool: Tool, response: LightMyRequestResponse, { record }: Caller): Json {
  const status = response.statusCode
  const refused = response.json<RefusalBody>()
  const { error, code } = refused
  const hint = adviceOn(tool, { status, ...refused }, record)
  const after = response.headers['retry-after']
  const isUngranted = code?.startsWith('api_key_') === true && code.endsWith('_not_granted')
  return {
    status,
    ...(code === undefined ? {} : { code }),
    error: tool.inItsWords(error),
    ...(hint === undefined ? {} : { hint }),
    ...(isUngranted ? { slug: tool.right, tier: RIGHTS[tool.right].tier } : {}),
    ...(after === undefined ? {} : { retry_after: Number(after) }),
  }
}
