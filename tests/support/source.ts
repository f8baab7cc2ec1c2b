// The source code for tests of the architecture: imports, statements, and the tables of the migrations.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseSync } from 'vite'

const ROOT = join(import.meta.dirname, '../..')
/** Wings without rooms: their folders are parts of one thing. */
const WHOLE = new Set(['web', 'mcp', 'gate', 'contract'])
const ROOMS_OF_THE_FRONT = new Set(['backup', 'vitals'])
type Tree = { type: string; start: number; end: number; [key: string]: unknown }
/** A file of src/: its wing (the folder directly in src, or `front`), its room (the folder in the wing, else the wing) and its imports. */
export type Source = { path: string; wing: string; room: string; text: string; imports: string[] }

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && 'type' in value

/**
 * Calls `visit` with every node and the chain of calls that it begins (`db.selectFrom('offers')` → `db.selectFrom('offers').where(…).execute()`).
 * Nodes inside a template belong to the template.
 */
function walk(node: Tree, chain: Tree, visit: (node: Tree, chain: Tree) => void): void {
  visit(node, chain)
  if (node.type === 'TemplateLiteral') return
  for (const key in node) {
    const value = node[key]
    if (typeof value !== 'object' || value === null) continue
    const inChain = key === 'callee' || key === 'object'
    for (const child of Array.isArray(value) ? value : [value])
      if (isTree(child)) walk(child, inChain ? chain : child, visit)
  }
}

const isGenerated = (path: string): boolean => path === 'src/ground/db/tables.ts'
const isTest = (path: string): boolean => /\.(test|spec)\.tsx?$/.test(path)

/** Every TypeScript file with its imports, including types: paths below the root, or names of packages. */
export const imports = new Map<string, string[]>()

/** All of src/ except tests and generated types. */
export const sources: Source[] = []

/** The names that a file imports and exports from, and imports at run time. */
function namesImported(path: string, text: string): string[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(path, text).module
  return [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) => entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? [])),
    ...dynamicImports.flatMap(
      ({ moduleRequest: { start, end } }) => /^'(.*)'$/.exec(text.slice(start, end))?.[1] ?? [],
    ),
  ]
}

for (const path of globSync('{src,tests,bench,demo,scripts}/**/*.{ts,tsx}', { cwd: ROOT }).sort()) {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const names = namesImported(path, text)
  const resolved = names.map(name => (name.startsWith('.') ? normalize(join(dirname(path), name)) : name))
  imports.set(path, resolved)
  if (path.startsWith('src/') && !isTest(path) && !isGenerated(path))
    sources.push({ path, wing: wingOf(path), room: roomOf(path), text, imports: resolved })
}

/** The wing of a path below src/. Files at the root, and rooms outside of a wing, belong to the front. */
export function wingOf(path: string): string {
  const [, wing = '', ...rest] = path.split('/')
  return rest.length === 0 || ROOMS_OF_THE_FRONT.has(wing) ? 'front' : wing
}

/** The room of a path below src/; for a file directly in a wing, the wing. */
export function roomOf(path: string): string {
  const [, wing = '', room, ...rest] = path.split('/')
  return room === undefined ? 'front' : rest.length === 0 || WHOLE.has(wing) ? wing : room
}

const schema = globSync('migrations/*.sql', { cwd: ROOT })
  .sort()
  .map(path => readFileSync(join(ROOT, path), 'utf8'))
  .join('\n')
const created = [...schema.matchAll(/create table (?:if not exists )?(\w+) \(([\s\S]*?)\n\)/g)]
export const tables = new Set([...created.map(([, name = '']) => name), 'migrations'])
/** The tables whose primary key begins with org_id. */
export const tenantTables = new Set(
  created.flatMap(([, name = '', body = '']) =>
    /primary key \(org_id\b|\borg_id \w+ primary key/.test(body) ? [name] : [],
  ),
)

type Statement = { sql: string; builder: boolean; table: string; verb: string }

/** The text of every piece of SQL, and of every builder call with its whole chain, that names a table. */
export function statements({ path, text }: Source): Statement[] {
  const found: Statement[] = []
  const program = parseSync(path, text).program as unknown as Tree
  walk(program, program, (node, chain) => {
    if (node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string')) {
      const slice = text.slice(node.start, node.end)
      for (const [, verb = '', table = ''] of slice.matchAll(/\b(from|join|into|update|table) "?(\w+)/gi)) {
        const isDelete = new RegExp(`\\bdelete from ${table}\\b`, 'i').test(slice)
        if (tables.has(table))
          found.push({ sql: slice, builder: false, table, verb: isDelete ? 'delete' : verb.toLowerCase() })
      }
    }
    if (node.type !== 'CallExpression') return
    const [verb, table] = builderCall(node)
    if (verb !== undefined && tables.has(table))
      found.push({ sql: text.slice(chain.start, chain.end), builder: true, table, verb })
  })
  return found
}

const verbs: Record<string, string> = {
  selectFrom: 'select',
  innerJoin: 'join',
  leftJoin: 'join',
  insertInto: 'insert',
  updateTable: 'update',
  deleteFrom: 'delete',
}

/** The verb and the table of a call of the query builder. */
function builderCall(node: Tree): [verb: string | undefined, table: string] {
  const [first] = [node['arguments']].flat()
  const callee = isTree(node['callee']) ? node['callee']['property'] : undefined
  const table = isTree(first) ? String(first['value']).replace(/ .*/, '') : ''
  return [isTree(callee) ? verbs[String(callee['name'])] : undefined, table]
}
