// The source as a test reads it: imports, statements, and the tables that the migrations make.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseSync } from 'vite'

const ROOT = join(import.meta.dirname, '../..')
type Tree = { type: string; start: number; end: number; [key: string]: unknown }
/** A file of src/: its room (the folder, or `.`), what it imports, and every node with the chain of calls it begins. */
export type Source = { path: string; room: string; text: string; imports: string[]; nodes: [node: Tree, chain: Tree][] }

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && 'type' in value

/**
 * Every node with the chain of calls that it begins (`db.selectFrom('offers')` → `db.selectFrom('offers').where(…).execute()`).
 * What stands inside a template belongs to the template.
 */
function* walk(node: Tree, chain: Tree): Generator<[Tree, Tree]> {
  yield [node, chain]
  if (node.type === 'TemplateLiteral') return
  for (const [key, value] of Object.entries(node)) {
    const inChain = key === 'callee' || key === 'object'
    for (const child of [value].flat()) if (isTree(child)) yield* walk(child, inChain ? chain : child)
  }
}

/** All of src/ but tests and generated types. */
export const sources: Source[] = globSync('src/**/*.{ts,tsx}', { cwd: ROOT })
  .filter(path => !/\.(test|spec)\.tsx?$/.test(path) && path !== 'src/db/tables.ts')
  .sort()
  .map(path => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    const { program } = parseSync(path, text)
    const nodes = [...walk(program as unknown as Tree, program as unknown as Tree)]
    const imports = nodes.flatMap(([node]) =>
      /^(Import|ExportNamed|ExportAll)/.test(node.type) && isTree(node['source'])
        ? [String(node['source']['value'])]
        : [],
    )
    return { path, room: path.split('/')[2] === undefined ? '.' : (path.split('/')[1] ?? '.'), text, imports, nodes }
  })

/** A relative import as a path below the root, a package as its name. */
export const resolved = ({ path }: Source, specifier: string): string =>
  specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : specifier
/** The room of a path below the root. */
export const roomOf = (path: string): string => (/^src\/[^/]+\//.test(path) ? (path.split('/')[1] ?? '.') : '.')

const schema = globSync('migrations/*.sql', { cwd: ROOT })
  .sort()
  .map(path => readFileSync(join(ROOT, path), 'utf8'))
  .join('\n')
const created = [...schema.matchAll(/create table (?:if not exists )?(\w+) \(([\s\S]*?)\n\)/g)]
export const tables = new Set([...created.map(([, name = '']) => name), 'migrations'])
/** Those whose primary key begins with org_id. */
export const tenantTables = new Set(
  created.flatMap(([, name = '', body = '']) =>
    /primary key \(org_id\b|\borg_id \w+ primary key/.test(body) ? [name] : [],
  ),
)

/** The text of every piece of SQL, and of every builder call with its whole chain, that names a table. */
export function* statements({
  text,
  nodes,
}: Source): Generator<{ sql: string; builder: boolean; table: string; verb: string }> {
  for (const [node, chain] of nodes) {
    const slice = text.slice(node.start, node.end)
    if (node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string')) {
      for (const [, verb = '', table = ''] of slice.matchAll(/\b(from|join|into|update|table) "?(\w+)/gi)) {
        const isDelete = new RegExp(`\\bdelete from ${table}\\b`, 'i').test(slice)
        if (tables.has(table))
          yield { sql: slice, builder: false, table, verb: isDelete ? 'delete' : verb.toLowerCase() }
      }
    }
    const [verb, table] = builderCall(node)
    if (verb !== undefined && tables.has(table)) {
      yield { sql: text.slice(chain.start, chain.end), builder: true, table, verb }
    }
  }
}

const verbs: Record<string, string> = {
  selectFrom: 'select',
  innerJoin: 'join',
  leftJoin: 'join',
  insertInto: 'insert',
  updateTable: 'update',
  deleteFrom: 'delete',
}

/** What a call of the query builder does with which table. */
function builderCall(node: Tree): [verb: string | undefined, table: string] {
  const [first] = [node['arguments']].flat()
  const callee = isTree(node['callee']) ? node['callee']['property'] : undefined
  const table = isTree(first) ? String(first['value']).replace(/ .*/, '') : ''
  return [isTree(callee) ? verbs[String(callee['name'])] : undefined, table]
}
