// Checks every statement that Sluice sends in a test for anything that a cluster refuses; the test's own statements are not checked. A test file
// with such a statement ends with an error that shows it.
import pg from 'pg'
import { brokenPlans, brokenRules, isGeneric } from './sharded-sql.ts'

/** Session settings of a pool that only reads tables which every node has. */
const ALLOWED: readonly string[] = ['src/people/keys/verify.ts: a generic plan for whatever the session sends']
/** Deep enough to show the caller of the query builder. */
const FRAMES = 60

const seen = new Set<string>()
const broken = new Set<string>()

/** The file of ours that sent the statement: the nearest one outside of `src/ground/db`. */
function sender(): string | undefined {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = FRAMES
  const stack = new Error().stack ?? ''
  Error.stackTraceLimit = limit
  return [...stack.matchAll(/\/((?:src|tests|demo|bench)\/[\w/.-]+\.tsx?)/g)]
    .map(([, path = '']) => path)
    .find(path => !path.startsWith('src/ground/db/') && path !== 'tests/support/sent-sql.ts')
}

function note(text: unknown, from = sender): void {
  if (typeof text !== 'string' || seen.has(text)) return
  const rules = brokenRules(text)
  if (rules.length === 0) return void seen.add(text)
  const path = from()
  if (path === undefined || !path.startsWith('src/') || path.includes('.test.')) return
  seen.add(text)
  for (const rule of rules)
    if (!ALLOWED.includes(`${path}: ${rule}`)) broken.add(`${path}: ${rule}\n  ${text.trim().replace(/\s+/g, ' ')}`)
}

type QueryArgument = string | { text?: string } | undefined
type Query = (argument: QueryArgument, ...rest: unknown[]) => unknown

/** Connections with generic plans. */
const generic = new WeakSet<object>()

/** Checks the statements of a pool or client before they are sent. */
function checkQueriesOf(prototype: { query: unknown }): void {
  const query = prototype.query as Query
  prototype.query = function (this: object, argument: QueryArgument, ...rest: unknown[]) {
    const text = typeof argument === 'string' ? argument : argument?.text
    note(text)
    if (text !== undefined && isGeneric(text)) generic.add(this)
    else if (text !== undefined && generic.has(this) && brokenPlans(text).length > 0)
      broken.add(`src/ (on the pool of keys): ${brokenPlans(text).join(', ')}\n  ${text.trim().replace(/\s+/g, ' ')}`)
    return query.call(this, argument, ...rest)
  }
}

checkQueriesOf(pg.Pool.prototype)
checkQueriesOf(pg.Client.prototype)
// Only Sluice uses flights, which bypass `query`.
const connection = pg.Connection.prototype as unknown as {
  parse: (asked: { name?: string; text: string }, more: boolean) => void
}
const parse = connection.parse
connection.parse = function (asked, more) {
  if (asked.name?.startsWith('flight ')) note(asked.text, () => 'src/ (in a flight)')
  parse.call(this, asked, more)
}

process.on('exit', () => {
  if (broken.size === 0) return
  console.error(`A cluster would refuse what was sent here:\n${[...broken].join('\n')}`)
  process.exitCode = 1
})
