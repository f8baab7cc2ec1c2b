// Compares every answer in a test with the OpenAPI document.
import assert from 'node:assert/strict'
import type { LightMyRequestResponse } from 'fastify'
import { z } from 'zod'
import { type Endpoint, routeOf } from '../../src/contract/endpoint.ts'
import { receiptSchema } from '../../src/gate/receipt.ts'
import { openApi } from '../../src/gate/openapi.ts'
import type { Declared } from '../../src/ground/room.ts'

type Response = { description: string; headers?: object; content?: Record<string, object> }
type Described = { declared: Declared; endpoint: Endpoint; path: RegExp; responses?: Promise<Record<string, Response>> }
type Document = { paths: Record<string, Record<string, { responses: Record<string, Response> }>> }

/** Headers that clients read: the document must have them wherever they are sent. */
const READ = ['retry-after', 'idempotent-replayed', 'location', 'set-cookie']

/** A report's window is returned as it was sent, even if it is beyond the times that other routes accept. */
const BEYOND = /"window":\{"from":"(0000-|[^}]*\+010000-)/

let described: Map<string, Described[]> | undefined

/** The routes by method; those without a path parameter first. */
function describe(furnished: readonly Declared[]): Map<string, Described[]> {
  const all = furnished.flatMap(({ name, endpoint }) =>
    Object.entries(endpoint.parts ?? { [name]: endpoint }).map(([part, one]): Described => {
      const pattern = routeOf(one).path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')
      return { declared: { name: part, endpoint: one }, endpoint: one, path: new RegExp(`^${pattern}$`) }
    }),
  )
  const isNamed = ({ endpoint }: Described) => (endpoint.route.includes('/:') ? 1 : 0)
  return Map.groupBy(
    all.toSorted((a, b) => isNamed(a) - isNamed(b)),
    ({ endpoint }) => routeOf(endpoint).method,
  )
}

/** The document's responses of this endpoint. */
async function responsesOf({ declared }: Described): Promise<Record<string, Response>> {
  const { paths } = (await openApi([declared], '0')) as unknown as Document
  return Object.values(paths).flatMap(methods => Object.values(methods))[0]?.responses ?? {}
}

/** Fails if an answer has a status, a code, a content type, a header or a field that the document does not have. */
export async function assertDescribed(
  furnished: readonly Declared[],
  method: string,
  url: string,
  answer: LightMyRequestResponse,
  isByKey = false,
): Promise<void> {
  described ??= describe(furnished)
  const [path = ''] = url.split('?', 1)
  const found = described.get(method)?.find(one => one.path.test(path))
  if (found === undefined) return
  const { statusCode: status, headers, body } = answer
  const at = `${found.endpoint.route} answered ${status} ${body.slice(0, 300)}`
  found.responses ??= responsesOf(found)
  const response = (await found.responses)[status] ?? assert.fail(`${at}, a status the document does not have`)
  for (const name of READ)
    if (headers[name] !== undefined)
      assert.ok(
        Object.keys(response.headers ?? {}).some(known => known.toLowerCase() === name),
        `${at} with ${name}, a header the document does not have`,
      )
  const type = String(headers['content-type'] ?? '').split(';')[0] ?? ''
  const types = Object.keys(response.content ?? {})
  // A text may be empty.
  if (body === '' && types.includes('text/plain')) return
  if (body === '') return assert.deepEqual(types, [], `${at}: nothing, where the document has a body`)
  const isKnown = types.includes(type) || types.includes(type.replace(/\/.*/, '/*'))
  assert.ok(isKnown, `${at} as ${type}, the document has ${types.join()}`)
  const form = (isByKey ? receiptSchema(found.endpoint) : undefined) ?? found.endpoint.reply
  if (type === 'application/json') assertForm(form, status, answer.json(), response, at)
}

function assertForm(
  form: z.ZodType | undefined,
  status: number,
  body: unknown,
  { description }: Response,
  at: string,
): void {
  const { code, jsonrpc } = (body ?? {}) as { code?: string; jsonrpc?: string }
  if (status >= 400 && jsonrpc === undefined)
    return assert.ok(code === undefined || description.includes(`\`${code}\``), `${at}, a code that is not described`)
  if (form === undefined || jsonrpc !== undefined || BEYOND.test(JSON.stringify(body))) return
  // Decoding drops unknown fields, so the result differs if the answer has one.
  assert.deepEqual(z.encode(form, z.decode(form, body as never)), body, at)
}
