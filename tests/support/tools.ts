// Calls the tool endpoint message by message, in either era of its protocol.
import type { TestHouse } from './house.ts'

export type ToolResult = {
  isError?: boolean
  content: { type: string; text: string }[]
  structuredContent: Record<string, unknown>
}
export type ToolMessage = {
  jsonrpc: string
  id: number | null
  result?: Record<string, unknown>
  error?: { code: number; message: string; data?: Record<string, unknown> }
}

export const PATH = '/api/mcp'
export const MODERN = '2026-07-28'
const LEGACY = '2025-06-18'

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
}

/** The request of a message as a client of the era would send it. */
export function messageFor(method: string, params: Record<string, unknown> = {}, era: 'modern' | 'legacy' = 'modern') {
  if (era === 'legacy')
    return { headers: { 'mcp-protocol-version': LEGACY }, body: { jsonrpc: '2.0', id: 1, method, params } }
  const named = params['name'] ?? params['uri']
  const name = typeof named === 'string' ? { 'mcp-name': named } : {}
  return {
    headers: { 'mcp-protocol-version': MODERN, 'mcp-method': method, ...name },
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: ENVELOPE } },
  }
}

export const send = (
  house: TestHouse,
  key: string,
  method: string,
  params?: Record<string, unknown>,
  era?: 'modern' | 'legacy',
) => house.call('POST', PATH, { key, ...messageFor(method, params, era) })

/** A tool call that comes to a result, refused or not. */
export async function callTool(
  house: TestHouse,
  key: string,
  name: string,
  args: Record<string, unknown> = {},
  era?: 'modern' | 'legacy',
): Promise<ToolResult> {
  const reply = await send(house, key, 'tools/call', { name, arguments: args }, era)
  const { result } = reply.json<ToolMessage>()
  if (reply.statusCode !== 200 || result === undefined) throw new Error(`${name}: ${reply.statusCode} ${reply.body}`)
  return result as unknown as ToolResult
}
