// Statements that a Citus cluster refuses, recognized by their text, because most tests run without a cluster.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FIRST_NODE_TABLES, REFERENCE_TABLES } from '../../src/ground/db/distribute.ts'

const TYPES = readFileSync(join(import.meta.dirname, '../../src/ground/db/tables.ts'), 'utf8')
const ALL = [...(/export interface Tables \{([^}]*)\}/.exec(TYPES)?.[1] ?? '').matchAll(/^ {2}(\w+):/gm)].map(
  ([, name = '']) => name,
)
const elsewhere = new Set([...REFERENCE_TABLES, ...FIRST_NODE_TABLES])
/** The tables of organizations. */
const SHARDED = new Set([...ALL.filter(name => !elsewhere.has(name)), 'clicks_default'])

const CLOCK = /\b(now|clock_timestamp|statement_timestamp|transaction_timestamp)\s*\(\s*\)|\bcurrent_timestamp\b/
const VOLATILE = /\b(random|gen_random_uuid|clock_timestamp|nextval)\s*\(/
const WORDS =
  /^(interval|case|when|then|else|end|null|and|or|not|true|false|is|distinct|from|array|any|all|in|excluded)$/

/** The statement in one line and lower case, without comments and quoted texts. */
function bare(sql: string): string {
  return sql
    .replace(/--.*|\/\*[^]*?\*\//g, ' ')
    .replace(/'(?:[^']|'')*'/g, "''")
    .replaceAll('"', '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()
}

const isSharded = (sql: string): boolean =>
  [...sql.matchAll(/\b(?:from|join|update|into|using) (?:only )?(\w+)/g)].some(([, name = '']) => SHARDED.has(name))

/** The items of a list; brackets keep theirs together. */
function partsOf(list: string): string[] {
  const parts = ['']
  let depth = 0
  for (const letter of list) {
    if (letter === '(' || letter === '[') depth += 1
    if (letter === ')' || letter === ']') depth -= 1
    if (depth < 0) break
    if (letter === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += letter
  }
  return parts
}

/** The assignments in each `set` of an update or an upsert. */
function assigned(sql: string, kind: 'update' | 'upsert'): { column: string; value: string }[] {
  const start =
    kind === 'update'
      ? /\bupdate (?:only )?(\w+)(?: (?:as )?\w+)? set /
      : /\bon conflict(?: \([^)]*\))?[^()]*? do update set /
  return sql
    .split(new RegExp(`(?=${start.source})`))
    .filter(part => new RegExp(`^${start.source}`).test(part))
    .flatMap(part => {
      const list = part.replace(start, '').split(/ (?:where|from|returning) /, 1)[0] ?? ''
      return partsOf(list).map(one => {
        const [column = '', ...value] = one.split('=')
        return { column: column.trim(), value: value.join('=') }
      })
    })
}

function hasColumn(expression: string): boolean {
  const left = expression.replace(/::\s*\w+(\[\])?|\$\d+|\b\w+\s*\(|''|\b\d+(\.\d+)?\b/g, ' ')
  return (left.match(/[a-z_]\w*/g) ?? []).some(word => !WORDS.test(word))
}

/** A select without the brackets in it, and the aliases of its tables. */
type Select = { readonly sql: string; readonly aliases: ReadonlySet<string> }

/** All selects in brackets, at any depth. */
function subSelects(sql: string): Select[] {
  const found: Select[] = []
  const open: string[] = ['']
  for (const letter of sql) {
    if (letter === '(') open.push('')
    else if (letter === ')' && open.length > 1) {
      const own = (open.pop() ?? '').trim()
      if (/^(with|select)\b/.test(own)) found.push({ sql: own, aliases: aliasesOf(own) })
      open[open.length - 1] += '()'
    } else open[open.length - 1] += letter
  }
  return found
}

const aliasesOf = (select: string): Set<string> =>
  new Set(
    [...select.matchAll(/(?:\bfrom|\bjoin(?: lateral)?|,) (?:only )?(\w+|\(\)|\w+\(\))(?: (?:as )?(\w+))?/g)].flatMap(
      ([, table = '', alias = '']) => [table, alias],
    ),
  )

/** Whether the select compares its organization with that of an outer table. */
const isCorrelated = ({ sql, aliases }: Select): boolean =>
  [...sql.matchAll(/(?:\b(\w+)\.|[ (])org_id = (\w+)\.org_id\b/g)].some(
    ([, one, other = '']) => (one === undefined || aliases.has(one)) !== aliases.has(other),
  )

type Rule = { readonly name: string; readonly breaks: (sql: string) => boolean }

/** `sql` is bare, and uses a table of organizations. */
const RULES: readonly Rule[] = [
  {
    name: 'a parameter in the returning of an insert from a select',
    breaks: sql => /\binsert into \w+.*\bselect\b.*\breturning\b[^;]*\$\d/.test(sql),
  },
  {
    name: 'the clock beside a column in an update',
    breaks: sql =>
      assigned(sql, 'update').some(({ value }) => CLOCK.test(value) && hasColumn(value.replace(CLOCK, ''))),
  },
  {
    name: 'a moment moved by an interval in an upsert',
    breaks: sql => /\bon conflict\b.*\bdo update set\b.*[-+] interval ''/.test(sql),
  },
  {
    name: 'a volatile function in an update or delete',
    breaks: sql => /^(with .*)?(update|delete from) /.test(sql) && !/\binsert into\b/.test(sql) && VOLATILE.test(sql),
  },
  {
    name: 'the epoch of a moment in a returning',
    breaks: sql => /\b(update|insert into|delete from) .*\breturning\b.*\bextract\(epoch from [\w.]+\)/.test(sql),
  },
  {
    name: 'an organization of another table after a lateral join',
    breaks: sql =>
      [...sql.matchAll(/\) (\w+) on true/g)].some(([, alias]) =>
        new RegExp(`\\bjoin \\w+ (\\w+) on \\1\\.org_id = ${alias}\\.org_id`).test(sql),
      ),
  },
  {
    // If all sub-selects name the organization, Citus asks one node; if none does, all nodes; if some do, it refuses.
    name: 'a sub-select with the organization of an outer table, in a statement for one organization',
    breaks: sql => /\borg_id = \$\d/.test(sql) && subSelects(sql).some(isCorrelated),
  },
  {
    name: 'columns that only their with names',
    breaks: sql => /\bwith (?:recursive )?(?:.*\), )?\w+ \([^()]*\) as (?:materialized )?\( ?(?!values)/.test(sql),
  },
  {
    name: 'an organization that changes',
    breaks: sql => assigned(sql, 'update').some(({ column }) => column === 'org_id'),
  },
]

/** Refused for every table, because Citus knows all of them. */
const CLOCK_IN_CASE = 'the clock in a case or coalesce of an update or delete'
const hasClockInCase = (sql: string): boolean =>
  /^(update|delete from) /.test(sql) &&
  [...sql.matchAll(/\bcase\b.*?\bend\b|\bcoalesce\(.*?\)(?= |,|$)/g)].some(([found]) => CLOCK.test(found))

const CHANGING_UPSERT = 'a function that is not immutable in an upsert'
const hasChangingUpsert = (sql: string): boolean =>
  assigned(sql, 'upsert').some(({ value }) => CLOCK.test(value) || VOLATILE.test(value))

/** It depends on the session's time zone, so it is only stable. */
const SHIFTED_COLUMN = 'a column’s moment and an interval in an update or delete'
const hasShiftedColumn = (sql: string): boolean =>
  /^(update|delete from) /.test(sql) && /(?<!:)\b[a-z]\w* [-+] (least\(|[^ ,]+ \* )?interval ''/.test(sql)

/** Generic plans, in which Citus cannot push down locks in sub-selects; they are fine for tables that every node has. */
const GENERIC =
  /plan_cache_mode(?!.*to_regproc\('create_distributed_table'\) is null).*force_generic_plan|set plan_cache_mode = force_generic_plan/s

/** Whether the statement sets a session to generic plans. */
export const isGeneric = (text: string): boolean => GENERIC.test(text)

/** The names of the rules that a statement breaks in such a session, where a statement may read an organization's row from one table only. */
export function brokenPlans(text: string): string[] {
  const sql = bare(text)
  const isPlain = !/\bjoin\b|\bunion\b|\bunnest\b|\(\s*select\b/.test(sql)
  const isFirst = FIRST_NODE_TABLES.some(table =>
    new RegExp(`\\b(insert into|update|delete from) ${table}\\b`).test(sql),
  )
  return (isSharded(sql) || isFirst) && !isPlain ? ['a generic plan of more than one table'] : []
}

/** Statements over many organizations, for one server only: a cluster never gets them (sharing.ts). */
const OF_MANY = /\borg_id int\b|\bas asked \(org_id, key\)|\borg_id = any\(\$1\) order by org_id for update/

/** The names of the rules that a statement breaks. */
export function brokenRules(text: string): string[] {
  if (isGeneric(text)) return ['a generic plan for whatever the session sends']
  const sql = bare(text)
  if (hasClockInCase(sql)) return [CLOCK_IN_CASE]
  if (hasChangingUpsert(sql)) return [CHANGING_UPSERT]
  if (hasShiftedColumn(sql)) return [SHIFTED_COLUMN]
  if (!isSharded(sql) || OF_MANY.test(sql)) return []
  return RULES.filter(({ breaks }) => breaks(sql)).map(({ name }) => name)
}
