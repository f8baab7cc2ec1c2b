// The landings, offers, bots and channels that a graph refers to: whether they exist, and their names.
import type { Kysely } from 'kysely'
import { chatLink, EXAMPLE_LINK, publicChat, telegramLink } from '../../contract/telegram.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type FlowNode, type Graph, isInTelegram, type FlowProblem } from './api.ts'
import { nameOf } from './validate.ts'

type ObjectKind = 'landing' | 'offer' | 'bot' | 'channel'

/** An object that a node names. The map has only those that exist. `url` returns the address, with macros, that the node sends visitors to. */
type FlowObject = { readonly name: string; readonly is_archived: boolean; readonly url: (node: FlowNode) => string }
export type FlowObjects = ReadonlyMap<string, FlowObject>

/** The kind and the id of the object that a node refers to, if any. */
export function objectOf(node: FlowNode): { kind: ObjectKind; id: string } | undefined {
  const kind = isInTelegram(node) ? 'bot' : node.type
  if (kind !== 'landing' && kind !== 'offer' && kind !== 'bot' && kind !== 'channel') return undefined
  const id = node[`${kind}_id`]
  return id == null ? undefined : { kind, id }
}

type Naming = { kind: ObjectKind; id: string; field: `${ObjectKind}_id` | 'earns_for_offer_id' }

/** All objects that a node refers to: its destination, and the offer that a redirect is credited to. */
function namedBy(node: FlowNode): Naming[] {
  const to = objectOf(node)
  if (to !== undefined) return [{ ...to, field: `${to.kind}_id` }]
  const id = node.type === 'redirect' ? node.earns_for_offer_id : null
  return id == null ? [] : [{ kind: 'offer', id, field: 'earns_for_offer_id' }]
}

/** The objects of the organization that the graphs refer to. */
export async function readObjects(db: Kysely<Tables>, org_id: number, graphs: readonly Graph[]): Promise<FlowObjects> {
  const named = graphs.flatMap(({ nodes }) => nodes.flatMap(namedBy))
  const idsOf = (kind: ObjectKind) => [...new Set(named.filter(one => one.kind === kind).map(({ id }) => id))]
  const [landings, offers, bots, channels] = await Promise.all([
    readNamed(db, 'landings', org_id, idsOf('landing')),
    readNamed(db, 'offers', org_id, idsOf('offer')),
    readBots(db, org_id, idsOf('bot')),
    readChannels(db, org_id, idsOf('channel')),
  ])
  return new Map([...landings, ...offers, ...bots, ...channels])
}

async function readNamed(db: Kysely<Tables>, table: 'landings' | 'offers', org_id: number, ids: string[]) {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom(table)
    .select(['id', 'name', 'status', 'url'])
    .where('org_id', '=', org_id)
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .execute()
  return rows.map(({ id, name, status, url }): [string, FlowObject] => [
    id,
    { name, is_archived: status === 'archived', url: () => url },
  ])
}

async function readBots(db: Kysely<Tables>, org_id: number, ids: string[]) {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('bots')
    .select(['id', 'username'])
    .where('org_id', '=', org_id)
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .execute()
  return rows.map(({ id, username }): [string, FlowObject] => {
    const url = (node: FlowNode) => (isInTelegram(node) ? telegramLink(username, node).url : '')
    return [id, { name: `@${username}`, is_archived: false, url }]
  })
}

async function readChannels(db: Kysely<Tables>, org_id: number, ids: string[]) {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('channels')
    .select(['id', 'title', 'username'])
    .where('org_id', '=', org_id)
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .execute()
  return rows.map(({ id, title, username }): [string, FlowObject] => {
    const example = username === null ? EXAMPLE_LINK : publicChat(username)
    return [id, { name: title, is_archived: false, url: ({ link_host }) => chatLink(example, link_host).url }]
  })
}

/** Problems of nodes whose object does not exist or is archived. An object of another organization counts as missing. */
export function objectProblems({ nodes }: Graph, objects: FlowObjects): FlowProblem[] {
  return nodes.flatMap(node =>
    namedBy(node).flatMap(({ kind, id, field }) => {
      const found = objects.get(id)
      if (found !== undefined && !found.is_archived) return []
      const fault =
        found === undefined
          ? `there is no such ${kind}. Choose another one (${field}).`
          : `the ${kind} ${found.name} is archived. Unarchive it, or choose another one (${field}).`
      return [{ node_id: node.id, message: `Node ${nameOf(node)}: ${fault}` }]
    }),
  )
}
