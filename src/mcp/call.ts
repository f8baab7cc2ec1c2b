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
import type { Json, Tool } from './tool.ts'

/** Who calls, and from where. */
export type Caller = {
  readonly key: string
  readonly record: KeyRecord
  readonly host: string | undefined
  readonly ip: string
  /** Sets a header of the answer to the outer request. */
  header(name: string, value: string): void
}

/** Calls the tool's route and wraps what it answers. */
export async function callTool(app: FastifyInstance, tool: Tool, given: Json, caller: Caller): Promise<CallToolResult> {
  const { method, url, body } = tool.requestFor(given)
  const objection = tool.objectionTo(given)
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
  return resultFor(tool, response)
}

/**
 * What the route answered, as the result of the tool. A refusal is a result with `isError` too, never a JSON-RPC error:
 * hosts give results to the model, which reads what to do, and drop errors. The text says it all, because some hosts pass on nothing else.
 */
function resultFor(tool: Tool, response: LightMyRequestResponse): CallToolResult {
  const isRefused = response.statusCode >= 400
  const answered: Json = isRefused ? refusalFor(tool, response) : response.json<Json>()
  const text = { type: 'text' as const, text: JSON.stringify(answered) }
  const replayed = { type: 'text' as const, text: 'Already recorded before: this call changed nothing.' }
  return {
    content: response.headers['idempotent-replayed'] === 'true' ? [text, replayed] : [text],
    structuredContent: answered,
    ...(isRefused ? { isError: true } : {}),
  }
}

const UNKNOWN_HERE =
  'There is none with this id in the workspace of this key. Take the id from the answer that created it, from service_list_clicks, or from a person with the dashboard.'
const OUTSIDE =
  'This key is restricted to campaigns: name one of them, or ask a workspace owner or admin to add this one to the key.'

/** What to do about refusals that the route leaves bare, or of which it cannot know where a tool finds ids. */
function adviceOn(status: number, code: string | undefined): string | undefined {
  if (code === 'campaign_scope_forbidden') return OUTSIDE
  return status === 404 || (status === 403 && code === undefined) ? UNKNOWN_HERE : undefined
}

function refusalFor(tool: Tool, response: LightMyRequestResponse): Json {
  const status = response.statusCode
  const { error, code, hint: said } = response.json<RefusalBody>()
  const hint = adviceOn(status, code) ?? said
  const after = response.headers['retry-after']
  return {
    status,
    ...(code === undefined ? {} : { code }),
    error: tool.inItsWords(error),
    ...(hint === undefined ? {} : { hint }),
    ...(status === 403 ? { slug: tool.right, tier: RIGHTS[tool.right].tier } : {}),
    ...(after === undefined ? {} : { retry_after: Number(after) }),
  }
}
