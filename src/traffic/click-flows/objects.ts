// The landings, offers and bots that a graph names: whether they are there, and what they are called.
import type { Kysely } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { FlowNode, Graph, Problem } from './api.ts'
import { nameOf } from './validate.ts'

type ObjectKind = 'landing' | 'offer' | 'bot'

/** What is known of an object that a node names; one that is not in the map is not there. */
type FlowObject = { readonly name: string; readonly is_archived: boolean }
export type FlowObjects = ReadonlyMap<string, FlowObject>

/** The kind and the id of the object a node names, if it names one. */
export function objectOf(node: FlowNode): { kind: ObjectKind; id: string } | undefined {
  if (node.type !== 'landing' && node.type !== 'offer' && node.type !== 'bot') return undefined
  const id = node[`${node.type}_id`]
  return id == null ? undefined : { kind: node.type, id }
}

/** Everything the graphs name that the organization has. */
export async function readObjects(db: Kysely<Tables>, org_id: number, graphs: readonly Graph[]): Promise<FlowObjects> {
  const named = graphs.flatMap(({ nodes }) => nodes.flatMap(node => objectOf(node) ?? []))
  const idsOf = (kind: ObjectKind) => [...new Set(named.filter(one => one.kind === kind).map(({ id }) => id))]
  const [landings, offers, bots] = await Promise.all([
    readNamed(db, 'landings', org_id, idsOf('landing')),
    readNamed(db, 'offers', org_id, idsOf('offer')),
    readBots(db, org_id, idsOf('bot')),
  ])
  return new Map([...landings, ...offers, ...bots])
}

async function readNamed(db: Kysely<Tables>, table: 'landings' | 'offers', org_id: number, ids: string[]) {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom(table)
    .select(['id', 'name', 'status'])
    .where('org_id', '=', org_id)
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .execute()
  return rows.map(({ id, name, status }) => [id, { name, is_archived: status === 'archived' }] as const)
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
  return rows.map(({ id, username }) => [id, { name: `@${username}`, is_archived: false }] as const)
}

/** Nodes whose object is not there or archived. Another organization's object is as if it were not there. */
export function objectProblems({ nodes }: Graph, objects: FlowObjects): Problem[] {
  return nodes.flatMap(node => {
    const named = objectOf(node)
    if (named === undefined) return []
    const { kind, id } = named
    const found = objects.get(id)
    if (found !== undefined && !found.is_archived) return []
    const fault =
      found === undefined
        ? `there is no such ${kind}. Choose another one (${kind}_id).`
        : `the ${kind} ${found.name} is archived. Unarchive it, or choose another one (${kind}_id).`
    return [{ node_id: node.id, message: `Node ${nameOf(node)}: ${fault}` }]
  })
}
