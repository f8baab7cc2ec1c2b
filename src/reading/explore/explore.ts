/**
 * Explore answers any question about an organization's clicks from its segments (the facts of its clicks), which a separate process scans.
 * An answer includes everything that was committed before the question was asked. Reads `segments` and the names of objects.
 */
import { MOST_CSV_LINES, MOST_EXPLORE_ROWS, SPEND_KEY } from '../../contract/explore.ts'
import type { ExploreAnswer, ExploreMeasures, ExploreRow } from '../../contract/explore-answer.ts'
import { isObjectDimension, type ObjectDimension } from '../../contract/explore-dimensions.ts'
import { refuse } from '../../contract/refusals.ts'
import { join } from 'node:path'
import type pg from 'pg'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { possible, type Window } from '../../contract/window.ts'
import type { Context, Ground } from '../../ground/room.ts'
import { hashOf } from '../segments/seal.ts'
import type { Call } from '../../contract/endpoint.ts'
import type * as api from './api.ts'
import { keyOf } from './columns.ts'
import { csvOf } from './csv.ts'
import { dayAsParquet } from './day-file.ts'
import { type Ask, type Engine, FilesGone } from './engine.ts'
import { readEventTypes } from './event-types.ts'
import type { Files } from './files.ts'
import { bring, forget, type Lacking } from './local.ts'
import { labelOf, type Names, namesOf, OTHER, UNASSIGNED, WITHOUT_CLICKS } from './labels.ts'
import type { Compared } from './grounds.ts'
import { foundInCurrency } from './in-currency.ts'
import { type AllFound, askLevels, type Group } from './levels.ts'
import { measuresOf } from './measures.ts'
import { type Question, questionOf } from './question.ts'
import { type Facts, ROOT } from './scan.ts'
import { haveCost, madeIn, sumsOfQuestion } from './sums.ts'
import { type How, readSnapshot, type Snapshot } from './snapshot.ts'
import { valuesOf } from './values.ts'
import { VISITOR_LIMITS, type VisitorLimits } from './visitors.ts'
import { WIDE_LIMITS, type WideLimits } from './wide.ts'
import { WORD_LIMITS, type WordLimits } from './words.ts'

export type Explorer = {
  readonly engine: Engine
  readonly files: Files
  readonly folder: string
  readonly limits: ExploreLimits
}

export type ExploreLimits = WideLimits &
  VisitorLimits &
  WordLimits & {
    /** A question reads at most so many unsealed clicks and changes; with more, the answer names their days as incomplete. */
    readonly waiting: number
    /** In milliseconds. A question that takes longer is refused. */
    readonly question_ms: number
  }
/** To read 150,000 unsealed clicks has taken five seconds. */
export const EXPLORE_LIMITS: ExploreLimits = {
  ...WIDE_LIMITS,
  ...VISITOR_LIMITS,
  ...WORD_LIMITS,
  waiting: 200_000,
  question_ms: 10_000,
}

/** A segment may be replaced between the statement that names it and the one that fetches it, and local files may be removed at any time. */
const MOST_TRIES = 4

/** The deeds, over what they scan with. */
export const exploreDeeds = (explorer: Explorer) => ({
  /** Refuses `invalid_question`, `window_required`, `invalid_window`, `window_too_wide`, `question_too_wide`, `explore_busy`, `rate_unknown`. */
  async explore(context: Context<typeof api.explore>, { body }: Call<typeof api.explore>): Promise<ExploreAnswer> {
    const began = performance.now()
    const question = questionOf(body)
    const counted_at = new Date().toISOString()
    const { org_id } = context.actor
    const [found, event_types] = await Promise.all([
      answerInCurrency(explorer, context, question),
      readEventTypes(context.database.reads, org_id, possible(question.window)),
    ])
    const rows = rowsOf(found, question, await namesIn(context, org_id, found, question))
    return {
      window: instants(question.window),
      ...(question.before && { window_before: instants(question.before) }),
      time_zone: question.time_zone,
      rows,
      totals: compared(found.totals, question),
      ...(found.whole && { totals_without_having: compared(found.whole, question) }),
      distinct: found.levels.map(({ distinct }) => distinct),
      unique_visitors_is_estimate: found.is_estimate,
      event_types,
      counted_at,
      incomplete_days: [...found.incomplete_days],
      emptied_before: found.emptied_before,
      took_ms: Math.round(performance.now() - began),
    }
  },

  /** The same as CSV, a line for each row that has no rows below it. Levels without `top` are listed in full. */
  async exploreAsCsv(context: Context<typeof api.exploreAsCsv>, { body }: Call<typeof api.exploreAsCsv>) {
    const { columns, ...asked } = body
    const question = questionOf(asked, Array(asked.levels.length).fill(MOST_CSV_LINES))
    const { org_id } = context.actor
    const found = await answer(explorer, context, org_id, question, MOST_CSV_LINES)
    return csvOf(rowsOf(found, question, await namesIn(context, org_id, found, question)), question, columns)
  },

  /** The tracked clicks of a UTC day as a Parquet file. Refuses `explore_busy` while some are missing. */
  async readExploreFacts(
    context: Context<typeof api.readExploreFacts>,
    { query }: Call<typeof api.readExploreFacts>,
  ): Promise<Uint8Array> {
    return readDay(explorer, context, Date.parse(query.day))
  },

  async listExploreValues(
    context: Context<typeof api.listExploreValues>,
    { query }: Call<typeof api.listExploreValues>,
  ) {
    const { database, actor } = context
    return valuesOf(database.reads, actor.org_id, query, (window, question) =>
      scan(explorer, context, actor.org_id, window, question, NOTHING_ELSE),
    )
  },
})

function readDay(explorer: Explorer, context: Context<typeof api.readExploreFacts>, from: number): Promise<Uint8Array> {
  const { org_id } = context.actor
  const { files, folder } = explorer
  const day = { from, to: from + DAY_MS - 1 }
  return read(explorer, context, org_id, day, NOTHING_ELSE, async (ask, { snapshot, reads }) => {
    if (snapshot.incomplete_days.length > 0) refuse('explore_busy', UNDER_WAY)
    return dayAsParquet(ask, { files, reads, folder: join(folder, String(org_id)), org_id }, snapshot)
  })
}

/** What a question needs besides clicks. */
type Wants = Pick<How, 'wantsTies' | 'wantsSpend'>
const NOTHING_ELSE: Wants = { wantsTies: false, wantsSpend: false }

const instants = ({ from, to }: Window) => ({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })

const UNDER_WAY = {
  error: 'clicks of this day are still being counted',
  hint: 'Ask again in a minute.',
  headers: { 'retry-after': '60' },
}

type Known = Facts & Pick<Snapshot, 'incomplete_days'>
type Seen = { readonly snapshot: Snapshot; readonly reads: Pick<pg.Pool, 'query'>; readonly window: Window }

/**
 * Runs `question` over the local copy of the facts. The snapshot is read when the question has its turn, so that the copy is never ahead of the
 * snapshot.
 */
function scan<T>(
  explorer: Explorer,
  ground: Pick<Ground, 'database' | 'secrets' | 'log'>,
  org_id: number,
  asked: Window,
  question: (ask: Ask, facts: Known) => Promise<T>,
  wants: Wants,
): Promise<T> {
  const { files, folder, limits } = explorer
  return read(explorer, ground, org_id, asked, wants, async (ask, { snapshot, reads, window }) => {
    const days = { first: dayOf(window.from), last: dayOf(window.to) }
    const facts = await bring(
      ask,
      { files, reads, most_words: limits.most_words },
      { folder, org_id },
      { ...snapshot, ...days },
    )
    if (typeof facts === 'string') return facts
    return { told: await question(ask, { ...facts, incomplete_days: snapshot.incomplete_days }) }
  })
}

/** Does `work` in the scanning process with a snapshot of the window, and again with a new one where segments or local files were missing. */
async function read<T>(
  { engine, limits }: Explorer,
  { database: { reads }, secrets, log }: Pick<Ground, 'database' | 'secrets' | 'log'>,
  org_id: number,
  asked: Window,
  wants: Wants,
  work: (ask: Ask, seen: Seen) => Promise<{ told: T } | Lacking>,
): Promise<T> {
  const window = possible(asked)
  const how = { hash: hashOf(secrets, org_id), ...wants, most_waiting: limits.waiting }
  const attempt = (ask: Ask) => async () =>
    work(ask, { snapshot: await readSnapshot(reads, org_id, window, how), reads, window })
  let goesOn = false
  for (let tries = 1; tries <= MOST_TRIES; goesOn = true) {
    try {
      const answered = await engine.run(org_id, ask => orForget(ask, org_id, attempt(ask)), goesOn)
      if (typeof answered === 'object') return answered.told
      // 'more' is no failed try: a portion was copied, and others may have their turn in between.
      if (answered === 'gone') tries += 1
    } catch (error) {
      if (!isGone(error)) throw error
      log.warn({ err: error, org_id }, 'local files of Explore were lost; rebuilding them')
      tries += 1
    }
  }
  return refuse('explore_busy', { headers: { 'retry-after': '5' } })
}

/** Forgets the local copy where its files were removed, which may happen at any time, even while they are written. */
async function orForget<T>(ask: Ask, org_id: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FilesGone) await forget(ask.process, org_id)
    throw error
  }
}

const isGone = (error: unknown) => error instanceof FilesGone || (error as NodeJS.ErrnoException).code === 'ENOENT'

function answer(explorer: Explorer, ground: Ground, org_id: number, question: Question, most: number) {
  const { window, before, levels, filters } = question
  const all = { from: before?.from ?? window.from, to: window.to }
  const wantsTies = [...levels, ...filters].some(({ dimension }) => dimension === 'source' || dimension === 'funnel')
  return scan(
    explorer,
    ground,
    org_id,
    all,
    async (ask, facts) => ({
      ...(await askLevels(ask, countingBy(question, facts), question, most, explorer.limits)),
      incomplete_days: facts.incomplete_days,
      emptied_before: facts.emptied_before,
    }),
    { wantsTies, wantsSpend: haveCost(madeIn(sumsOfQuestion(question))) },
  )
}

async function answerInCurrency(explorer: Explorer, context: Context<typeof api.explore>, question: Question) {
  const found = await answer(explorer, context, context.actor.org_id, question, MOST_EXPLORE_ROWS)
  return question.currency === undefined ? found : foundInCurrency(context, found, question.currency)
}

const countingBy = <F extends Facts>({ goal }: Question, facts: F): F =>
  goal === undefined ? facts : { ...facts, goals: { goal: [goal], own: [] } }

/** By level, the names of the objects that were found. */
async function namesIn({ database }: Ground, org_id: number, { levels }: AllFound, question: Question) {
  const first = question.within?.length ?? 0
  return Promise.all(
    levels.map(async ({ groups }, at): Promise<Names | undefined> => {
      const dimension = question.levels[first + at]?.dimension
      if (dimension === undefined || !isObjectDimension(dimension)) return undefined
      const ids = new Set(
        [...groups.values()].flat().flatMap(({ value, isSpend }) => (value === null || isSpend ? [] : [String(value)])),
      )
      return namesOf(database.reads, org_id, dimension satisfies ObjectDimension, [...ids])
    }),
  )
}

const compared = ({ sums, before }: Compared, question: Question): ExploreMeasures & { before?: ExploreMeasures } => ({
  ...measuresOf(sums, question),
  ...(before && { before: measuresOf(before, question) }),
})

function rowsOf({ levels }: AllFound, question: Question, names: readonly (Names | undefined)[]): ExploreRow[] {
  const first = question.within?.length ?? 0
  const below = (parent: number, at: number): ExploreRow[] | undefined => {
    const level = levels[at]
    const groups = level?.groups.get(parent)
    const dimension = question.levels[first + at]?.dimension
    if (level === undefined || groups === undefined || dimension === undefined) return undefined
    const rest = level.rest.get(parent)
    const rowOf = ({ id, value, isSpend, ...figures }: Group): ExploreRow => {
      const children = below(id, at + 1)
      const named = isSpend
        ? { key: SPEND_KEY, label: question.isApart && dimension === 'sub1' ? UNASSIGNED : WITHOUT_CLICKS }
        : { key: keyOf(dimension, value), label: labelOf(dimension, value, names[at]) }
      return { ...named, is_other: false, ...compared(figures, question), ...(children && { children }) }
    }
    const other = rest && {
      key: null,
      label: OTHER,
      is_other: true,
      count_of_other: rest.keys,
      ...compared(rest, question),
    }
    return [...groups.map(rowOf), ...(other ? [other] : [])]
  }
  return below(ROOT, 0) ?? []
}
