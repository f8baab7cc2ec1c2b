/** The clicks of a question in its window and in the period before: all clicks, or those of the rows that pass the filters on figures. */
import { clicksOfRows, findRows, levelsOfRows, rowsThen } from './having.ts'
import { isFiltered } from './question.ts'
import { type Asking, rowsOfFirstLevel, type FirstRows, rowsBelow, type LevelRows, totalsOf } from './rows.ts'
import { selectFacts } from './scan.ts'
import { madeIn, type Sums } from './sums.ts'
import { sampleFor, type VisitorLimits, type Visitors, visitorsBelow, visitorsIn, visitorsOf } from './visitors.ts'
import { refuseTooWide, type WideLimits } from './wide.ts'

/** The rows that a level is computed from in one window: its groups from `rows`, the levels below from `source`. `totals` sums all rows. */
export type LevelGround = {
  readonly asking: Asking
  readonly rows: LevelRows
  readonly source: LevelRows
  readonly visitors: Visitors | undefined
  readonly totals: Sums
}

/** Sums in the question's window, and in the period before if the question compares. */
export type ComparedSums = { readonly sums: Sums; readonly before: Sums | undefined }

type Grounds = {
  readonly ground: LevelGround
  readonly past: LevelGround | undefined
  /** One visitor in `every` is counted. */
  readonly every: number
  /** The sums without the filters on figures; undefined if the question has none. */
  readonly whole: ComparedSums | undefined
}

type Common = Pick<Asking, 'ask' | 'facts' | 'question' | 'sums' | 'levels'>
type Limits = WideLimits & VisitorLimits

/** Computes the totals and the rows of the first level, in both windows. Refuses `question_too_wide`. */
export const openGrounds = (common: Common, limits: Limits): Promise<Grounds> =>
  (isFiltered(common.question) ? ofRowsLeft : ofAllClicks)(common, limits)

async function ofAllClicks(common: Common, limits: Limits): Promise<Grounds> {
  const { question, ask, facts } = common
  const asking = askingOfAll(common, question.window, 'n')
  const now = await rowsOfFirstLevel(asking)
  await refuseTooWide(ask, facts, question, now.totals.clicks, limits)
  const every = sampleFor(now.totals.clicks, limits)
  const ground = await groundOf(asking, now, every)
  const then = question.before && askingOfAll(common, question.before, 'b')
  return { ground, past: then && (await groundOf(then, await rowsOfFirstLevel(then), every)), every, whole: undefined }
}

async function ofRowsLeft(common: Common, limits: Limits): Promise<Grounds> {
  const { question, ask, facts } = common
  const levels = levelsOfRows(question)
  const whole = askingOfAll({ ...common, levels: [] }, question.window, 'w')
  const sums = await totalsOf(whole, everyRow(whole))
  await refuseTooWide(ask, facts, question, sums.clicks, limits)
  const every = sampleFor(sums.clicks, limits)
  const askingOf = (window: Asking['window'], prefix: string): Asking => {
    const clicks = clicksOfRows({ facts, question, window, levels })
    return { ...common, window, prefix, clicks }
  }
  const rowsLeft = await findRows(askingOfAll({ ...common, levels }, question.window, 'r'), every)
  const groundIn = async (asking: Asking, rows: LevelRows) =>
    groundOf(asking, { rows, all: rows, totals: await totalsOf(asking, rows) }, every)
  const ground = await groundIn(askingOf(question.window, 'n'), rowsLeft)
  const all = { ...sums, ...(await visitorsOf(whole, await visitorsIn(whole, every))) }
  if (question.before === undefined) return { ground, past: undefined, every, whole: { sums: all, before: undefined } }
  const then = askingOf(question.before, 'b')
  const past = await groundIn(then, await rowsThen({ ...then, levels }))
  const wholeThen = askingOfAll({ ...common, levels: [] }, question.before, 'x')
  const before = await totalsOf(wholeThen, everyRow(wholeThen))
  const visitors = await visitorsOf(wholeThen, await visitorsIn(wholeThen, every))
  return { ground, past, every, whole: { sums: all, before: { ...before, ...visitors } } }
}

function askingOfAll(common: Common, window: Asking['window'], prefix: string): Asking {
  const { facts, question, levels } = common
  const clicks = (columns: readonly string[]) => `(${selectFacts(facts, question, window, { levels, columns })})`
  return { ...common, window, prefix, clicks }
}

const everyRow = ({ clicks, sums }: Asking): LevelRows => ({ sql: clicks(madeIn(sums)), grouped_keys: undefined })

async function groundOf(asking: Asking, { rows, all, totals }: FirstRows, every: number): Promise<LevelGround> {
  const visitors = await visitorsIn(asking, every)
  return { asking, rows, source: all, visitors, totals: { ...totals, ...(await visitorsOf(asking, visitors)) } }
}

/** The rows that the level below `at` is computed from. */
export async function groundBelow(ground: LevelGround, at: number, kept: readonly Sums[]): Promise<LevelGround> {
  const { asking, source } = ground
  const rows = await rowsBelow(asking, source, at, kept)
  const visitors = ground.visitors && (await visitorsBelow(asking, at, ground.visitors))
  return { ...ground, rows, source: rows, visitors }
}
