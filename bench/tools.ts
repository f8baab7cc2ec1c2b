// A tool call compared with its plain route. Both read an empty page of the feed, so that only the wrapping differs.
import type { Child, startLoad } from './children.ts'
import { ms, perSecond } from './clicks.ts'
import type { Measured } from './load.ts'
import type { Organization } from './organizations.ts'
import type { Plan } from './plan.ts'
import { median, ratiosOf } from './ratio.ts'
import { type Finding, finding } from './rows.ts'

const CONNECTIONS = 8
const MODERN = '2026-07-28'
const TOOL = 'service_list_clicks'

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
}

function callOf(key: string, headers: readonly string[], params: object): string {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: TOOL, arguments: {}, ...params },
  })
  const head = [
    'POST /api/mcp HTTP/1.1',
    'host: localhost',
    `x-api-key: ${key}`,
    'content-type: application/json',
    ...headers,
  ]
  return [...head, `content-length: ${body.length}`, '', body].join('\r\n')
}

const requests = ({ key }: Organization) => ({
  plain: `GET /api/v1/clicks?limit=50 HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${key}\r\n\r\n`,
  modern: callOf(key, [`mcp-protocol-version: ${MODERN}`, 'mcp-method: tools/call', `mcp-name: ${TOOL}`], {
    _meta: ENVELOPE,
  }),
  legacy: callOf(key, ['mcp-protocol-version: 2025-06-18'], {}),
})

/** The number of plain requests answered in the time of one tool call, in both versions of the protocol; the slower one is judged. */
export async function measureTools(
  load: Awaited<ReturnType<typeof startLoad>>,
  { port }: Child,
  organization: Organization,
  { rounds, seconds, warmSeconds }: Plan,
): Promise<Finding[]> {
  const sent = requests(organization)
  const answered = async (kind: keyof typeof sent, seconds: number): Promise<Measured> => {
    const recipe = { kind: 'same', request: sent[kind] } as const
    const measured = await load.ask({ port, connections: CONNECTIONS, seconds, recipe })
    if (measured.statuses[200] !== measured.answered || !measured.sample.includes('next_cursor'))
      throw new Error(`the ${kind} call was refused: ${measured.sample}`)
    return measured
  }
  const kinds = ['plain', 'modern', 'legacy'] as const
  for (const kind of kinds) await answered(kind, warmSeconds)
  const taken = { plain: [] as Measured[], modern: [] as Measured[], legacy: [] as Measured[] }
  for (let round = 0; round < rounds; round += 1)
    for (const kind of kinds) taken[kind].push(await answered(kind, seconds))
  const ratio = (kind: 'modern' | 'legacy') =>
    ratiosOf(
      taken.plain.map(({ per_second }) => per_second),
      taken[kind].map(({ per_second }) => per_second),
    )
  const [modern, legacy] = [ratio('modern'), ratio('legacy')]
  const said = kinds.map(kind => {
    const p50 = ms(median(taken[kind].map(({ p50 }) => p50)))
    return `${kind} ${perSecond(median(taken[kind].map(({ per_second }) => per_second)))}, p50 ${p50}`
  })
  return [
    finding('mcp_call_ratio', modern.median > legacy.median ? modern : legacy, [
      `${said.join('; ')}; ${CONNECTIONS} connections, an empty page of the feed`,
    ]),
  ]
}
