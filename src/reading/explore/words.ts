/**
 * The dictionaries of a local copy, a table for each text column: every distinct text (word) of the column has a number. With tens of thousands of
 * words, grouping and joining by numbers takes half the time. A column with very many words has no numbers, because they would cost more than they save.
 */
import { type TextColumn, TEXTS } from '../segments/facts.ts'
import type { Ask } from './engine.ts'

export type WordLimits = {
  /** A column with more words loses its numbers. */
  readonly most_words: number
}
export const WORD_LIMITS: WordLimits = { most_words: 200_000 }
/** A column whose words have more text loses its numbers too: visitors choose subs of up to 500 bytes, and a join keeps the words in memory. */
const MOST_BYTES = 8_000_000

const tableOf = (copy: string, name: TextColumn) => `${copy}.words_${name}`
const numberOf = (name: TextColumn) => `${name}_number`

/** The column with a dimension's numbers, and the table that maps them to words. */
export type Numbered = { readonly column: string; readonly words: string }

/** The columns of numbers in the table of facts, one for each text. */
export const NUMBER_COLUMNS = TEXTS.map(name => `null::integer as ${numberOf(name)}`).join(', ')

/** The statements that create the tables of words in a new copy. */
export const wordTables = (copy: string): string =>
  TEXTS.map(
    name => `create table ${tableOf(copy, name)} (number integer, word varchar);
      insert into ${tableOf(copy, name)} values (${UNKNOWN_NUMBER}, '')`,
  ).join('; ')

/** The number of the empty word, which stands for an unknown value. */
export const UNKNOWN_NUMBER = 0

/** The columns that have numbers, which are those whose table exists. */
export async function numberedIn(ask: Ask, copy: string): Promise<Set<TextColumn>> {
  const rows = await ask(`select table_name as name from duckdb_tables() where database_name = '${copy}'`)
  const tables = new Set(rows.map(({ name }) => name))
  return new Set(TEXTS.filter(name => tables.has(`words_${name}`)))
}

export function numberedBy(copy: string, numbered: ReadonlySet<string>, dimension: string): Numbered | undefined {
  if (!numbered.has(dimension)) return undefined
  return { column: numberOf(dimension as TextColumn), words: tableOf(copy, dimension as TextColumn) }
}

/** Gives numbers to the new words of these rows in these columns. A column with too many words loses its numbers. */
export async function learnWords(
  ask: Ask,
  copy: string,
  from: string,
  { numbered, most_words }: { readonly numbered: Set<TextColumn> } & WordLimits,
  names: readonly TextColumn[] = TEXTS,
): Promise<void> {
  const learning = names.filter(name => numbered.has(name))
  if (learning.length === 0) return
  const learnt = learning.map(
    name => `insert into ${tableOf(copy, name)}
      select (select coalesce(max(number), 0) from ${tableOf(copy, name)}) + row_number() over (), word
      from (select distinct ${name} as word from ${from} where ${name} is not null) anti join ${tableOf(copy, name)} using (word)`,
  )
  await ask(learnt.join('; '))
  const areTooMany = learning.map(
    name =>
      `(select count(*) - 1 > ${most_words} or sum(strlen(word)) > ${MOST_BYTES} from ${tableOf(copy, name)}) as ${name}`,
  )
  const [tooMany] = await ask(`select ${areTooMany.join(', ')}`)
  for (const name of learning) {
    if (tooMany?.[name] !== true) continue
    await ask(`drop table ${tableOf(copy, name)}`)
    numbered.delete(name)
  }
}

/** SQL of these rows, with the columns of numbers added. Only these columns are filled: each join with a table of words takes milliseconds, however few the rows are. */
export function withNumbers(
  copy: string,
  from: string,
  numbered: ReadonlySet<TextColumn>,
  names: readonly TextColumn[],
): string {
  const filled = names.filter(name => numbered.has(name))
  const numbers = TEXTS.map(name =>
    filled.includes(name) ? `w_${name}.number as ${numberOf(name)}` : `null::integer as ${numberOf(name)}`,
  )
  return `(select f.*, ${numbers.join(', ')} from ${from} f ${joinsOf(copy, filled)})`
}

/** Fills in the missing numbers of these columns in the rows of a table. */
export async function setNumbers(
  ask: Ask,
  copy: string,
  table: string,
  numbered: ReadonlySet<TextColumn>,
  names: readonly TextColumn[],
): Promise<void> {
  for (const name of names.filter(one => numbered.has(one)))
    await ask(`update ${table} f set ${numberOf(name)} = w.number from ${tableOf(copy, name)} w
      where f.${numberOf(name)} is null and w.word = f.${name}`)
}

/** Each join with a table of words takes megabytes, and one with all of them hundreds. */
const JOINED_AT_ONCE = 7

/**
 * Adds the rows of a temporary table to the facts of a copy, with all numbers of their words. Rows and numbers are joined by position, because a hash
 * join would keep all columns of the rows in memory.
 */
export async function insertNumbered(
  ask: Ask,
  copy: string,
  table: string,
  numbered: ReadonlySet<TextColumn>,
): Promise<void> {
  const names = TEXTS.filter(name => numbered.has(name))
  const groups = Array.from({ length: Math.ceil(names.length / JOINED_AT_ONCE) }, (_, at) => ({
    numbers: `${table}_numbers${at}`,
    of: names.slice(at * JOINED_AT_ONCE, (at + 1) * JOINED_AT_ONCE),
  }))
  for (const { numbers, of } of groups) {
    const columns = of.map(name => `w_${name}.number as ${numberOf(name)}`)
    await ask(
      `create or replace temp table ${numbers} as select ${columns.join(', ')} from ${table} f ${joinsOf(copy, of)} order by f.rowid`,
    )
  }
  const columns = TEXTS.map(name => (numbered.has(name) ? numberOf(name) : `null::integer as ${numberOf(name)}`))
  const joins = groups.map(({ numbers }) => `positional join ${numbers}`)
  await ask(`insert into ${copy}.facts select f.*, ${columns.join(', ')} from ${table} f ${joins.join(' ')}`)
  if (groups.length > 0) await ask(groups.map(({ numbers }) => `drop table ${numbers}`).join('; '))
}

const joinsOf = (copy: string, names: readonly TextColumn[]): string =>
  names.map(name => `left join ${tableOf(copy, name)} w_${name} on w_${name}.word = f.${name}`).join(' ')
