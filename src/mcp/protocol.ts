/**
 * Both generations of the protocol on one address, without sessions and in plain JSON: revision 2026-07-28, in which each request names its
 * revision, and the older ones that begin with `initialize`. The SDK implements both; each request gets its own server object.
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
import type { Ground } from '../ground/room.ts'
import { askingPerson, canAsk } from './ask-person.ts'
import { type ToolCaller, callTool } from './call.ts'
import type { Json } from './derive.ts'
import { GUIDE_CACHE, GUIDE_CAPABILITIES, serveGuides } from './guides/serve.ts'
import { instructionsFor } from './instructions.ts'
import { TOOLS } from './tools/all.ts'
import { unknownTool } from './unknown-tool.ts'

const LIST = TOOLS.map(tool => tool.shown)
const BY_NAME = new Map(TOOLS.map(tool => [tool.shown.name, tool]))

const CAPABILITIES = { tools: {}, ...GUIDE_CAPABILITIES }

/** The list is the same for every key but needs a key, so shared caches must not store it. */
const LIST_CACHE = { ttlMs: 300_000, cacheScope: 'private' } as const

/** Shared by all requests, because creating a validator costs as much as everything else in a server. */
const jsonSchemaValidator = new AjvJsonSchemaValidator()

export type Protocol = {
  /** Answers one message. `request` carries the headers, `body` the parsed message. */
  answer(request: Request, body: unknown, caller: ToolCaller): Promise<Response>
  close(): Promise<void>
}

/** Opens the protocol for both generations. Each message gets its own server, because no state is kept between messages. */
export function openProtocol(app: FastifyInstance, { db }: Pick<Ground, 'db'>, server: Implementation): Protocol {
  const servers = new WeakMap<Request, Server>()
  const serve = async (caller: ToolCaller, body: unknown) => {
    const method = isJSONRPCRequest(body) ? body.method : ''
    const instructions = GREETINGS.has(method) ? await instructionsFor(db, caller, new Date()) : undefined
    const messageServer = serverFor(app, server, caller, instructions)
    // Most messages call a tool. Their servers need no guides, so these are set up only for the others.
    if (!method.startsWith('tools/')) serveGuides(messageServer, caller.record)
    return messageServer
  }
  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const served = requestInfo === undefined ? undefined : servers.get(requestInfo)
      if (served === undefined) throw new Error('a message came without its caller')
      return served
    },
    // The SDK answers in plain JSON unless a tool sends something before its result, which no tool does.
    { legacy: 'reject' },
  )
  return {
    async answer(request, parsedBody, caller) {
      const refused = refuseParams(parsedBody)
      if (await isLegacyRequest(request, parsedBody))
        return refused ?? answerLegacy(await serve(caller, parsedBody), request, parsedBody)
      servers.set(request, refused === undefined ? await serve(caller, parsedBody) : idleServer(server))
      // The new revision checks headers and method before the params. Our error replaces the SDK's only after those checks.
      const response = await modern.fetch(request, { parsedBody })
      return response.status === 200 ? (refused ?? response) : response
    },
    close: () => modern.close(),
  }
}

/** The methods whose answers carry instructions. Only these need to read the workspace's name. */
const GREETINGS: ReadonlySet<string> = new Set(['initialize', 'server/discover'])

/** The schemas of params, by method. */
const SHAPES = {
  initialize: specTypeSchemas.InitializeRequest,
  'tools/list': specTypeSchemas.ListToolsRequest,
  'tools/call': specTypeSchemas.CallToolRequest,
  'prompts/list': specTypeSchemas.ListPromptsRequest,
  'prompts/get': specTypeSchemas.GetPromptRequest,
  'resources/list': specTypeSchemas.ListResourcesRequest,
  'resources/templates/list': specTypeSchemas.ListResourceTemplatesRequest,
  'resources/read': specTypeSchemas.ReadResourceRequest,
  'completion/complete': specTypeSchemas.CompleteRequest,
} as const

const isShaped = (method: string): method is keyof typeof SHAPES => Object.hasOwn(SHAPES, method)

/** The error for params of a wrong shape. The SDK would answer an internal error or print its validator's output. */
function refuseParams(body: unknown): Response | undefined {
  if (!isJSONRPCRequest(body)) return undefined
  const { id, method, params } = body
  if (!isShaped(method)) return undefined
  const { issues } = SHAPES[method]['~standard'].validate({ method, params })
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

/** A server that knows the methods and refuses every call, for requests whose params are refused in any case. */
function idleServer(implementation: Implementation): Server {
  const server = new Server(implementation, { capabilities: CAPABILITIES, jsonSchemaValidator })
  const refuse = () => {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid params')
  }
  for (const method of Object.keys(SHAPES).filter(isShaped))
    if (method !== 'initialize') server.setRequestHandler(method, refuse)
  return server
}

function serverFor(
  app: FastifyInstance,
  implementation: Implementation,
  caller: ToolCaller,
  instructions: string | undefined,
): Server {
  const server = new Server(implementation, {
    capabilities: CAPABILITIES,
    ...(instructions === undefined ? {} : { instructions }),
    cacheHints: {
      'tools/list': LIST_CACHE,
      'prompts/list': GUIDE_CACHE,
      'resources/list': GUIDE_CACHE,
      'resources/templates/list': GUIDE_CACHE,
      'resources/read': GUIDE_CACHE,
    },
    jsonSchemaValidator,
  })
  server.setRequestHandler('tools/list', ({ params }) => {
    if (params?.cursor !== undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor: the whole list is one page.')
    return { tools: LIST }
  })
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    const tool = BY_NAME.get(params.name)
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(params.name))
    const given = (params.arguments ?? {}) as Json
    const call = (added: Json) => callTool(app, tool, { ...given, ...added }, caller)
    return caller.record.ask_first && tool.asks(given) && canAsk(mcpReq)
      ? askingPerson(mcpReq, tool.shown.title, call)
      : call({})
  })
  return server
}
