/**
 * The two eras of the protocol on one address, both without sessions and in plain JSON: 2026-07-28, where each request says what it
 * speaks, and the revisions that begin with `initialize`. The SDK knows the rules of both; a server of its own serves each request.
 */
import {
  createMcpHandler,
  type Implementation,
  isJSONRPCRequest,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  specTypeSchemas,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv'
import type { FastifyInstance } from 'fastify'
import { type Caller, callTool } from './call.ts'
import type { Json } from './tool.ts'
import { TOOLS } from './tools/all.ts'

const INSTRUCTIONS = `Sluice tracks ad clicks and records conversions. Each tool acts in the one workspace of the API key and needs the right its description names; a refusal says which right to ask a workspace owner or admin for.
Build in this order: offer, landing, funnel or click flow (a flow takes traffic only once published), then the campaign that points to it. Ids come from the answers that created things; keep them, because only service_list_clicks and reports by campaign or offer list any.
Money is US dollars as a decimal string, times are UTC in ISO 8601. Reports count a conversion on the day of its click.
Ask the user before a tool marked destructive: conversions are charged and fire postbacks, and neither they nor deletions can be undone.
On status 429 or 503 wait retry_after seconds and repeat the same call; give conversions a nonce, so that a repeat is recorded once.`

const LIST = TOOLS.map(tool => tool.shown)
const BY_NAME = new Map(TOOLS.map(tool => [tool.shown.name, tool]))

/** The list is the same for every key, but stands behind the key: a shared cache must not hand it on. */
const LIST_CACHE = { ttlMs: 300_000, cacheScope: 'private' } as const

/** Shared, because a server of its own for each request would make one each, at the price of the rest together. */
const jsonSchemaValidator = new AjvJsonSchemaValidator()

export type Protocol = {
  /** Answers one message. `request` carries the headers, `body` the parsed message. */
  answer(request: Request, body: unknown, caller: Caller): Promise<Response>
  close(): Promise<void>
}

/** Opens the protocol for both generations of hosts; each message gets a server of its own, because nothing is kept between them. */
export function openProtocol(app: FastifyInstance, server: Implementation): Protocol {
  const callers = new WeakMap<Request, Caller>()
  const serve = (caller: Caller) => serverFor(app, server, caller)
  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const caller = requestInfo === undefined ? undefined : callers.get(requestInfo)
      if (caller === undefined) throw new Error('a message came without its caller')
      return serve(caller)
    },
    // A plain JSON answer unless something is said before the result, which no tool does.
    { legacy: 'reject' },
  )
  return {
    async answer(request, parsedBody, caller) {
      const refused = refuseParams(parsedBody)
      if (refused !== undefined) return refused
      if (await isLegacyRequest(request, parsedBody)) return answerLegacy(serve(caller), request, parsedBody)
      callers.set(request, caller)
      return modern.fetch(request, { parsedBody })
    },
    close: () => modern.close(),
  }
}

const SHAPES: Readonly<
  Record<string, (typeof specTypeSchemas)['InitializeRequest' | 'ListToolsRequest' | 'CallToolRequest']>
> = {
  initialize: specTypeSchemas.InitializeRequest,
  'tools/list': specTypeSchemas.ListToolsRequest,
  'tools/call': specTypeSchemas.CallToolRequest,
}

/** What a request with params of a wrong shape is told: the SDK would call it an internal error, or print its schema's findings. */
function refuseParams(body: unknown): Response | undefined {
  if (!isJSONRPCRequest(body)) return undefined
  const { id, method, params } = body
  const shape = Object.hasOwn(SHAPES, method) ? SHAPES[method] : undefined
  const issues = shape?.['~standard'].validate({ method, params }).issues
  if (issues === undefined) return undefined
  const found = issues.map(({ path = [], message }) => `${path.map(String).join('.')}: ${message}`)
  const error = { code: ProtocolErrorCode.InvalidParams, message: `Invalid params: ${found.slice(0, 5).join('; ')}` }
  return Response.json({ jsonrpc: '2.0', id, error })
}

async function answerLegacy(server: Server, request: Request, parsedBody: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody })
  } finally {
    void server.close()
  }
}

function serverFor(app: FastifyInstance, implementation: Implementation, caller: Caller): Server {
  const server = new Server(implementation, {
    capabilities: { tools: {} },
    instructions: INSTRUCTIONS,
    cacheHints: { 'tools/list': LIST_CACHE },
    jsonSchemaValidator,
  })
  server.setRequestHandler('tools/list', ({ params }) => {
    if (params?.cursor !== undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor: the whole list is one page.')
    return { tools: LIST }
  })
  server.setRequestHandler('tools/call', ({ params }) => {
    const tool = BY_NAME.get(params.name)
    if (tool === undefined)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no tool ${JSON.stringify(params.name.slice(0, 100))}.`,
      )
    return callTool(app, tool, (params.arguments ?? {}) as Json, caller)
  })
  return server
}
