/**
 * Runs a tool call as a request to the route that the dashboard uses, inside this process and with the caller's key. The gate treats it like
 * any other request, so rights, roles, quotas and idempotency are checked only there.
 */
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import type { RefusalBody } from '../contract/refusals.ts'
import { RIGHTS } from '../contract/rights.ts'
import { type ConfirmedCall, toolCall } from '../gate/tool-call.ts'
import type { HostName } from '../ground/history/record.ts'
import type { Ground } from '../ground/room.ts'
import { rememberedHost } from '../people/keys/hosts.ts'
import type { KeyRecord } from '../people/keys/verify.ts'
import { adviceOn } from './advice.ts'
import type { Json } from './derive.ts'
import { answerText } from './answer-text.ts'
import type { Tool, ToolRequest } from './tool.ts'

/** The caller of a tool. */
export type ToolCaller = {
  readonly record: KeyRecord
  readonly host: string | undefined
  /** The AI host that the message names; null if it names none. */
  readonly client: HostName | null
  /** The base address of Sluice, if known. */
  readonly origin: string | undefined
  readonly ip: string
  readonly db: Ground['db']
  /** Sets a header of the answer to the outer request. */
  header(name: string, value: string): void
}

/** Calls the tool's route and turns its answer into a tool result. */
export async function callTool(
  app: FastifyInstance,
  tool: Tool,
  given: Json,
  caller: ToolCaller,
): Promise<CallToolResult> {
  const request = tool.requestFor(given)
  const { method, url, body, idempotency_key, is_dry_run, objection } = request
  const host = caller.client ?? (method === 'GET' ? null : await rememberedHost(caller.db, caller.record.key_id))
  const needsConfirmation = caller.record.ask_first && tool.shown.annotations.destructiveHint
  const mark = {
    tool: tool.shown.name,
    record: caller.record,
    host,
    is_dry_run,
    ...(needsConfirmation ? { confirmation: confirmedCall(tool, request) } : {}),
    ...(objection === undefined ? {} : { objection }),
  }
  const response = await toolCall.run(
    mark,
    async () =>
      await app.inject({
        method,
        url,
        remoteAddress: caller.ip,
        headers: {
          ...(caller.host === undefined ? {} : { host: caller.host }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotency_key === undefined || objection !== undefined ? {} : { 'idempotency-key': idempotency_key }),
        },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      }),
  )
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
    if (response.headers[name] !== undefined) caller.header(name, String(response.headers[name]))
  return resultFor(tool, response, caller, { body, is_dry_run })
}

/** The tool and its arguments as one text, whatever the order of the arguments. */
function confirmedCall(tool: Tool, { url, body, idempotency_key, confirmation }: ToolRequest): ConfirmedCall {
  const sorted = (_: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value
  const text = JSON.stringify([tool.shown.name, url, body, idempotency_key], sorted)
  return { text, given: confirmation }
}

/**
 * The tool result for the route's answer. A refusal is a result with `isError`, not a JSON-RPC error, because hosts pass results to the model
 * and drop errors. The text contains the whole answer, because some hosts pass on nothing else.
 */
function resultFor(
  tool: Tool,
  response: LightMyRequestResponse,
  caller: ToolCaller,
  { body, is_dry_run }: { readonly body: Json | undefined; readonly is_dry_run: boolean },
): CallToolResult {
  const isRefused = response.statusCode >= 400
  const isReplayed = response.headers['idempotent-replayed'] === 'true'
  const answered = isRefused
    ? refusalFor(tool, response, caller)
    : {
        ...(is_dry_run
          ? response.json<Json>()
          : tool.answerFor(response.json<Json>(), { body, isReplayed, origin: caller.origin })),
        ...(isReplayed ? { replayed: true } : {}),
      }
  const text = { type: 'text' as const, text: answerText(answered) }
  const before = tool.endpoint.repeatable ? 'This object was created before.' : 'This conversion was recorded before.'
  const replayed = { type: 'text' as const, text: `${before} This call changed nothing.` }
  return {
    content: isReplayed ? [text, replayed] : [text],
    structuredContent: answered,
    ...(isRefused ? { isError: true } : {}),
  }
}

function refusalFor(tool: Tool, response: LightMyRequestResponse, { record }: ToolCaller): Json {
  const status = response.statusCode
  const refused = response.json<RefusalBody>()
  const { error, code } = refused
  const hint = adviceOn(tool, { status, ...refused }, record)
  const after = response.headers['retry-after']
  const isUngranted = code?.startsWith('api_key_') === true && code.endsWith('_not_granted')
  return {
    status,
    ...(code === undefined ? {} : { code }),
    error: tool.withArgumentNames(error),
    ...(hint === undefined ? {} : { hint }),
    ...(isUngranted ? { slug: tool.right, tier: RIGHTS[tool.right].tier } : {}),
    ...(after === undefined ? {} : { retry_after: Number(after) }),
  }
}
