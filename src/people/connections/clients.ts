/**
 * The programs that ask to be connected: those that registered themselves, and those that publish a document at an https address, which is then their
 * id. Owns `connection_clients`. A registered name is not verified; a document is verified by its domain.
 */
import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { request as fetchGuarded } from 'undici'
import { z } from 'zod'
import { DAY_MS } from '../../contract/days.ts'
import { FAITHFUL } from '../../contract/fields.ts'
import type { Config } from '../../ground/config.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { guardedAgent } from '../../ground/guard.ts'
import { isLoopbackHost } from '../../ground/network.ts'

export type Client = {
  readonly id: string
  readonly name: string
  readonly domain: string | null
  readonly redirect_uris: readonly string[]
}

const MOST_REDIRECTS = 10

/** Schemes that browsers and operating systems act on by themselves, so that no program owns them. */
const SYSTEM_SCHEMES =
  /^(https?|wss?|ftp|file|filesystem|blob|data|javascript|vbscript|about|view-source|intent|mailto|tel|sms|ms-.*|search-ms):$/

/** A scheme that a program on the person's machine has registered for itself (RFC 8252), as Cursor has `cursor://`. */
const isProgramScheme = ({ protocol, host }: URL) => host !== '' && !SYSTEM_SCHEMES.test(protocol)

/** An address to which browsers may be sent with a code: https, or http or a program's own scheme on the person's machine. */
const RedirectUri = z
  .string()
  .max(2000)
  .refine(text => {
    const url = URL.parse(text)
    if (url === null || text.includes('#') || url.username !== '' || url.password !== '') return false
    return url.protocol === 'https:' || isLocalRedirect(url)
  }, 'must be an https address, http on this machine, or a scheme of your program followed by ://, without a fragment')

/** Control characters, and those that change the direction of the words around them. */
const MISLEADING = /[\p{Cc}\p{Bidi_Control}]/gu

/** The fields of a registration or a document that are read; others are ignored. */
export const ClientDraft = z.object({
  client_name: z
    .string()
    .overwrite(name => name.replaceAll(MISLEADING, ''))
    .trim()
    .min(1)
    .max(100)
    .refine(...FAITHFUL)
    .default('Unnamed host'),
  redirect_uris: z.array(RedirectUri).min(1).max(MOST_REDIRECTS),
})

/** Registers a client and returns its row. */
export async function register(db: Kysely<Tables>, { client_name, redirect_uris }: z.output<typeof ClientDraft>) {
  const row = {
    id: `host_${randomBytes(18).toString('base64url')}`,
    name: client_name,
    redirect_uris,
    created_at: new Date().toISOString(),
  }
  await db.insertInto('connection_clients').values(row).execute()
  return row
}

/** The client with this id; undefined for an unknown one, and for a document that cannot be read or is not about this id. */
export async function findClient(db: Kysely<Tables>, config: Config, id: string): Promise<Client | undefined> {
  if (/^https:/i.test(id)) return readDocument(config, id)
  const row = await db
    .selectFrom('connection_clients')
    .select(['id', 'name', 'redirect_uris'])
    .where('id', '=', id)
    .executeTakeFirst()
  return row === undefined ? undefined : { ...row, domain: null }
}

const DOCUMENT_BYTES = 64 * 1024
const DOCUMENT_MS = 5000
/** A page or a file that somebody uploaded to a domain does not speak for the domain. */
const DOCUMENT_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i

/** Reads a client id metadata document. Only public addresses are called, and no redirect is followed. */
async function readDocument({ allowPrivateTargets }: Config, id: string): Promise<Client | undefined> {
  const url = URL.parse(id)
  if (url === null || url.protocol !== 'https:' || url.href !== id) return undefined
  if (url.pathname === '/' || url.hash !== '' || url.username !== '' || url.password !== '') return undefined
  const dispatcher = guardedAgent({ allowPrivate: allowPrivateTargets, connections: 1 })
  try {
    const signal = AbortSignal.timeout(DOCUMENT_MS)
    const { statusCode, headers, body } = await fetchGuarded(url, {
      dispatcher,
      signal,
      headers: { accept: 'application/json' },
    })
    if (statusCode !== 200 || !DOCUMENT_TYPE.test(String(headers['content-type']))) return undefined
    const bytes: Buffer[] = []
    let size = 0
    for await (const part of body) {
      size += (part as Buffer).length
      if (size > DOCUMENT_BYTES) return undefined
      bytes.push(part as Buffer)
    }
    const sent: unknown = JSON.parse(Buffer.concat(bytes).toString('utf8'))
    const read = ClientDraft.extend({ client_id: z.literal(id) }).safeParse(sent)
    if (!read.success) return undefined
    return { id, name: read.data.client_name, domain: url.host, redirect_uris: read.data.redirect_uris }
  } catch {
    return undefined
  } finally {
    await dispatcher.destroy()
  }
}

/** Whether the address leads to a program on the person's own machine, where any program can claim it. */
export const isLocalRedirect = (url: URL): boolean =>
  (url.protocol === 'http:' && isLoopbackHost(url.host)) || isProgramScheme(url)

/** Whether the client registered this address. On the person's own machine the port may differ, because programs take a free one. */
export function isRegistered({ redirect_uris }: Client, sent: string): boolean {
  if (redirect_uris.includes(sent)) return true
  const wanted = withoutPort(sent)
  return wanted !== undefined && redirect_uris.some(one => withoutPort(one) === wanted)
}

/** A loopback address without its port; undefined for any other address. */
function withoutPort(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || url.protocol !== 'http:' || !isLoopbackHost(url.host) || url.href !== text) return undefined
  if (url.username !== '' || url.password !== '' || url.hash !== '') return undefined
  url.port = ''
  return url.href
}

/** Notes that somebody connected the client, so that it is not forgotten. */
export async function noteConsent(db: Kysely<Tables>, id: string): Promise<void> {
  await db.updateTable('connection_clients').set({ used_at: new Date().toISOString() }).where('id', '=', id).execute()
}

/** Forgets registered clients that nobody has connected for a day, or for half a year since. */
export async function forgetUnused(db: Kysely<Tables>): Promise<void> {
  const now = Date.now()
  const [never, lately] = [new Date(now - DAY_MS), new Date(now - 183 * DAY_MS)].map(one => one.toISOString())
  await db
    .deleteFrom('connection_clients')
    .where(on =>
      on.or([
        on.and([on('used_at', 'is', null), on('created_at', '<', never ?? '')]),
        on('used_at', '<', lately ?? ''),
      ]),
    )
    .execute()
}
