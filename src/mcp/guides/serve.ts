/**
 * Prompts, guides and skills over the protocol: prompts/*, resources/*, completion/complete and the skills extension. Their texts are the same for every
 * key. No row is a resource, because read rights allow two tools and nothing else.
 */
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { toWireId } from '../../contract/ids.ts'
import type { KeyRecord } from '../../people/keys/verify.ts'
import { GUIDES } from './guides.ts'
import { completionOf, promptFor, SHOWN_PROMPTS } from './prompts.ts'
import { entryOf, SKILLS } from './skills.ts'

const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills'

/** The server's capabilities besides tools. No list ever changes. */
export const GUIDE_CAPABILITIES = {
  prompts: {},
  resources: {},
  completions: {},
  extensions: { [SKILLS_EXTENSION]: {} },
}

/** The lists need a key, so shared caches must not store them. */
export const GUIDE_CACHE = { ttlMs: 300_000, cacheScope: 'private' } as const

const MARKDOWN = 'text/markdown'

type Text = { readonly uri: string; readonly text: string }

const RESOURCES = [
  ...GUIDES.map(({ name, title, description }) => ({
    uri: `sluice://guide/${name}`,
    name,
    title,
    description,
    mimeType: MARKDOWN,
  })),
  ...SKILLS.map(({ uri, name, description }) => ({ uri, name, description, mimeType: MARKDOWN })),
]

const TEXTS: ReadonlyMap<string, Text> = new Map(
  [...GUIDES.map(({ name, text }) => ({ uri: `sluice://guide/${name}`, text })), ...SKILLS].map(one => [one.uri, one]),
)

const ENTRIES = SKILLS.map(entryOf)

/** Registers every method of this server except those for tools. */
export function serveGuides(server: Server, { grant }: KeyRecord): void {
  server.setRequestHandler('prompts/list', ({ params }) => {
    refuseCursor(params?.cursor)
    return { prompts: SHOWN_PROMPTS }
  })
  server.setRequestHandler('prompts/get', ({ params }) => {
    const prompt = promptFor(params.name, params.arguments ?? {}, new Date())
    if ('error' in prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, prompt.error)
    return { messages: [{ role: 'user', content: { type: 'text', text: prompt.text } }] }
  })
  server.setRequestHandler('completion/complete', ({ params: { ref, argument } }) => {
    if (ref.type !== 'ref/prompt') return { completion: { values: [], total: 0, hasMore: false } }
    const campaigns = (grant?.campaigns ?? []).map(id => toWireId(id))
    return { completion: completionOf(ref.name, argument.name, argument.value, { campaigns, now: new Date() }) }
  })
  server.setRequestHandler('resources/list', ({ params }) => {
    refuseCursor(params?.cursor)
    return { resources: RESOURCES }
  })
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const found = TEXTS.get(uri)
    if (found === undefined) throw new ResourceNotFoundError(uri)
    return { contents: [{ uri, mimeType: MARKDOWN, text: found.text }] }
  })
  serveSkills(server)
}

const Listed = z.looseObject({ cursor: z.string().optional() })
const Named = z.looseObject({ uri: z.string() })

function serveSkills(server: Server): void {
  server.setRequestHandler('skills/list', { params: Listed }, ({ cursor }) => {
    refuseCursor(cursor)
    return { skills: ENTRIES, ...GUIDE_CACHE }
  })
  server.setRequestHandler('skills/get', { params: Named }, ({ uri }) => {
    const skill = ENTRIES.find(entry => entry.uri === uri)
    if (skill === undefined)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'There is no skill with this uri. skills/list lists them.',
      )
    return { skill, ...GUIDE_CACHE }
  })
}

function refuseCursor(cursor: string | undefined): void {
  if (cursor !== undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor: the whole list is one page.')
}
