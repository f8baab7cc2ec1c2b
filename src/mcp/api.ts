/** The tool endpoint over HTTP: JSON-RPC in, JSON-RPC out. */
import { z } from 'zod'
import { endpoint } from '../contract/endpoint.ts'

const Message = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional().meta({ description: 'Absent in a notification' }),
  method: z.string().meta({ examples: ['tools/list', 'tools/call'] }),
  params: z.record(z.string(), z.unknown()).optional(),
})

const Response = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.number(), z.null()]).optional(),
    result: z.record(z.string(), z.unknown()).optional(),
    error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
  })
  .meta({ id: 'ProtocolMessage' })

const answers = {
  202: { words: 'The notification was accepted' },
  400: 'The body is not JSON (-32700), is not a single JSON-RPC message (-32600), or contradicts the headers (-32020, -32022)',
  404: 'There is no such method (-32601)',
  413: 'The body is over 1 MiB (-32000)',
  415: 'The body is compressed (-32000)',
  500: 'Internal error (-32603)',
} as const

const UNREADABLE = { type: 'application/json', reply: Response, headers: ['Retry-After'] } as const

export const callTools = endpoint({
  route: 'POST /api/mcp',
  access: { key: 'any' },
  history: { none: 'the route of each tool records what the tool changes' },
  summary: 'Model Context Protocol for AI hosts',
  description:
    'Streamable HTTP without sessions or event streams. Supports revision 2026-07-28 and those with `initialize` back to 2025-03-26. Each ' +
    'tool call becomes a request to its route, with all the checks of that route. A refusal of the route is a result with `isError` and ' +
    'status 200. Refusals of the transport are JSON-RPC errors: 401 -32001, 503 -32002, and 405 -32000 for any other method.',
  body: Message,
  reply: Response,
  headers: ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
  answers: {
    ...answers,
    403: 'The Origin is not the dashboard’s (-32000)',
    401: 'The key is missing, unknown, revoked, disabled or expired (-32001)',
    503: { words: 'The key could not be verified at that moment (-32002): keep it and try again', ...UNREADABLE },
  },
})

/** What the transport of the protocol sends and reads, in all revisions. */
const FROM_PAGES = {
  sends: [
    'authorization',
    'content-type',
    'last-event-id',
    'mcp-protocol-version',
    'mcp-session-id',
    'mcp-method',
    'mcp-name',
  ],
  exposes: [
    'www-authenticate',
    'mcp-protocol-version',
    'mcp-session-id',
    'retry-after',
    'x-ratelimit-limit',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
  ],
} as const

export const callToolsAsConnection = endpoint({
  route: 'POST /mcp',
  access: { key: 'any' },
  cors: FROM_PAGES,
  history: { none: 'the route of each tool records what the tool changes' },
  summary: 'Model Context Protocol for AI hosts that a person connected by OAuth',
  description:
    'The same tools as `POST /api/mcp`, with an access token instead of a key: `Authorization: Bearer …`. Without a good token the answer is 401 with ' +
    '`WWW-Authenticate`, which names the metadata from which a host begins. Every origin may call it; cookies are not read.',
  body: Message,
  reply: Response,
  headers: ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
  answers: {
    ...answers,
    401: {
      words: 'The token is missing, unknown or expired, or its connection has ended (-32001)',
      type: 'application/json',
      reply: Response,
      headers: ['WWW-Authenticate'],
    },
    503: { words: 'The token could not be verified at that moment (-32002): keep it and try again', ...UNREADABLE },
  },
})
