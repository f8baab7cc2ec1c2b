/**
 * The facts of unsealed sheets in a local copy, in a table beside the facts of segments. They stay there between questions until their sheet is sealed.
 * A process that opens the copy starts without any.
 */
import type { TextColumn } from '../segments/facts.ts'
import { dayNumber } from './columns.ts'
import type { Ask } from './engine.ts'
import type { Files } from './files.ts'
import type { Snapshot } from './snapshot.ts'
import { FACT_COLUMNS, fromFiles, NO_FACTS } from './table.ts'
import type { SumsByDay } from './unsealed.ts'
import { learnWords, NUMBER_COLUMNS, setNumbers, type WordLimits } from './words.ts'

/** The unsealed sheets whose facts are in the table, by id, with their number there. */
export type KeptSheets = Map<string, { readonly number: number; readonly sums: SumsByDay }>

/** The table of unsealed facts. Its texts have numbers in the columns that a question has used. */
export const unsealedIn = (copy: string): string => `${copy}.unsealed`

/** The statement that creates the table in a new copy. */
export const unsealedTable = (copy: string): string =>
  `create table ${unsealedIn(copy)} as select s::integer as s, ${FACT_COLUMNS}, ${NUMBER_COLUMNS} from ${NO_FACTS}`

type CopyOfSheets = { readonly name: string; readonly kept: KeptSheets; readonly numbered: Set<TextColumn> }
type SheetSource = {
  readonly files: Files
  readonly org_id: number
  /** The text columns whose numbers the question needs. */
  readonly texts: readonly TextColumn[]
} & WordLimits

/** Brings the table to the snapshot: removes sealed sheets and adds new ones. Returns whether it has any facts. */
export async function keepSheets(
  ask: Ask,
  { name, kept, numbered }: CopyOfSheets,
  { files, org_id, texts, most_words }: SheetSource,
  { sheets, fresh, standing }: Pick<Snapshot, 'sheets' | 'fresh' | 'standing'>,
): Promise<boolean> {
  const table = unsealedIn(name)
  const isStanding = (day: string) => standing.some(one => one.day === day)
  const gone = [...kept].filter(([id]) => !sheets.has(id))
  // The sheet added last has the highest number.
  const first = ([...kept.values()].at(-1)?.number ?? 0) + 1
  const added = [
    ...fresh.flatMap(({ days }, at) =>
      days.filter(({ day }) => !isStanding(day)).map(rows => ({ ...rows, sheet: first + at })),
    ),
    ...standing.map(rows => ({ ...rows, sheet: 0 })),
  ]
  const hasFacts = kept.size > gone.length || added.length > 0
  const laid = await files.lay(org_id, added)
  try {
    await ask('begin')
    if (kept.size === 0) await ask(`delete from ${table}`)
    else if (gone.length > 0)
      await ask(`delete from ${table} where s in (${gone.map(([, { number }]) => number).join(', ')})`)
    if (standing.length > 0)
      await ask(`delete from ${table} where d in (${standing.map(({ day }) => dayNumber(day)).join(', ')})`)
    if (laid.paths.length > 0)
      await ask(
        `insert into ${table} by name select s::integer as s, ${FACT_COLUMNS} ${fromFiles(laid.paths, "'d': INTEGER")}`,
      )
    if (hasFacts) {
      await learnWords(ask, name, table, { numbered, most_words }, texts)
      await setNumbers(ask, name, table, numbered, texts)
    }
    await ask('commit')
  } finally {
    await laid.drop()
  }
  for (const [id] of gone) kept.delete(id)
  // The sheets of such a day are incomplete in the table, so the next question reads all of them again.
  if (standing.length > 0) kept.clear()
  else for (const [at, { id, sums }] of fresh.entries()) kept.set(id, { number: first + at, sums })
  return hasFacts
}
