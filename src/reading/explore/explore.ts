/**
 * Explore answers any question about an organization's clicks from its segments (the facts of its clicks), which a separate process scans.
 * An answer includes everything that was committed before the question was asked. Reads `segments` and the names of objects.
 */
import { MOST_CSV_LINES, MOST_EXPLORE_ROWS, SPEND_KEY } from '../../contract/explore.ts'
import type { ExploreAnswer, ExploreMeasures, ExploreRow } from '../../contract/explore-answer.ts'
import { type ExploreDimension, isObjectDimension, type ObjectDimension } from '../../contract/explore-dimensions.ts'
import { refuse } from '../../contract/refusals.ts'
import { join } from 'node:path'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { possible, type Window } from '../../contract/window.ts'
import type { Context, Ground } from '../../ground/room.ts'
import { type TextColumn, TEXTS } from '../segments/facts.ts'
import type { Call } from '../../contract/endpoint.ts'
import type * as api from './api.ts'
import { wireKeyOf } from './columns.ts'
import { csvOf } from './csv.ts'
import { dayAsParquet } from './day-file.ts'
import { readEventTypes } from './event-types.ts'
import { type Explorer, NOTHING_ELSE, withFacts, withSnapshot } from './explorer.ts'
import { labelOf, type ObjectNames, objectNames, OTHER, UNASSIGNED, WITHOUT_CLICKS } from './labels.ts'
import type { ComparedSums } from './grounds.ts'
import { foundInCurrency } from './in-currency.ts'
import { type FoundLevels, askLevels, type Group } from './levels.ts'
import { measuresOfSums } from './measures.ts'
import { type ParsedQuestion, parseQuestion } from './question.ts'
import { type LocalFacts, ROOT } from './scan.ts'
import { haveCost, madeIn, sumsOfQuestion } from './sums.ts'
import { readTagged } from './tagged.ts'
import { listValues } from './values.ts'

/** The deeds of the room, bound to the scanning process, files and limits of `explorer`. */
export const exploreDeeds = (explorer: Explorer) => ({
  /** Refuses `invalid_question`, `window_required`, `invalid_window`, `window_too_wide`, `question_too_wide`, `explore_busy`, `rate_unknown`. */
  async explore(context: Context<typeof api.explore>, { body }: Call<typeof api.explore>): Promise<ExploreAnswer> {
    const began = performance.now()
    const question = parseQuestion(body)
    const counted_at = new Date().toISOString()
    const { org_id } = context.actor
    const [found, event_types] = await Promise.all([
      answerInCurrency(explorer, context, question),
      readEventTypes(context.database.reads, org_id, possible(question.window)),
    ])
    const rows = answerRows(found, question, await namesOfFound(context, org_id, found, question))
    return {
      window: instants(question.window),
      ...(question.before && { window_before: instants(question.before) }),
      time_zone: question.time_zone,
      rows,
      totals: comparedMeasures(found.totals, question),
      ...(found.whole && { totals_without_having: comparedMeasures(found.whole, question) }),
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
    const { columns, ...askedQuestion } = body
    const question = parseQuestion(askedQuestion, Array(askedQuestion.levels.length).fill(MOST_CSV_LINES))
    const { org_id } = context.actor
    const foundLevels = await answerQuestion(explorer, context, org_id, question, MOST_CSV_LINES)
    return csvOf(
      answerRows(foundLevels, question, await namesOfFound(context, org_id, foundLevels, question)),
      question,
      columns,
    )
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
    return listValues(database.reads, actor.org_id, query, (window, question) =>
      withFacts(explorer, context, actor.org_id, window, question, {
        ...NOTHING_ELSE,
        texts: textsAmong([query.dimension]),
      }),
    )
  },
})

function readDay(explorer: Explorer, context: Context<typeof api.readExploreFacts>, from: number): Promise<Uint8Array> {
  const { org_id } = context.actor
  const { files, folder, limits } = explorer
  const day = { from, to: from + DAY_MS - 1 }
  // The file is made at once, and without the local copy.
  const wants = { ...NOTHING_ELSE, knownTo: () => new Map(), most_fresh: limits.waiting }
  return withSnapshot(explorer, context, org_id, day, wants, async (ask, { snapshot, reads }) => {
    if (snapshot.incomplete_days.length > 0) refuse('explore_busy', UNDER_WAY)
    return dayAsParquet(ask, { files, reads, folder: join(folder, String(org_id)), org_id }, snapshot, dayOf(from))
  })
}

const instants = ({ from, to }: Window) => ({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })

const UNDER_WAY = {
  error: 'clicks of this day are still being counted',
  hint: 'Ask again in a minute.',
  headers: { 'retry-after': '60' },
}

const textsAmong = (dimensions: readonly ExploreDimension[]): TextColumn[] =>
  TEXTS.filter(text => (dimensions as readonly string[]).includes(text))

async function answerQuestion(
  explorer: Explorer,
  ground: Ground,
  org_id: number,
  question: ParsedQuestion,
  most: number,
) {
  const { window, before, levels, filters } = question
  const all = { from: before?.from ?? window.from, to: window.to }
  const dimensions = [...levels, ...filters].map(({ dimension }) => dimension)
  const tagged = dimensions.includes('tag') ? await readTagged(ground.database.reads, org_id) : undefined
  const wantsTies = dimensions.some(dimension => dimension === 'source' || dimension === 'funnel')
  return withFacts(
    explorer,
    ground,
    org_id,
    all,
    async (ask, facts) => ({
      ...(await askLevels(
        ask,
        countingBy(question, { ...facts, ...(tagged && { tagged }) }),
        question,
        most,
        explorer.limits,
      )),
      incomplete_days: facts.incomplete_days,
      emptied_before: facts.emptied_before,
    }),
    { wantsTies, wantsSpend: haveCost(madeIn(sumsOfQuestion(question))), texts: textsAmong(dimensions) },
  )
}

async function answerInCurrency(explorer: Explorer, context: Context<typeof api.explore>, question: ParsedQuestion) {
  const foundLevels = await answerQuestion(explorer, context, context.actor.org_id, question, MOST_EXPLORE_ROWS)
  return question.currency === undefined ? foundLevels : foundInCurrency(context, foundLevels, question.currency)
}

const countingBy = <F extends LocalFacts>({ goal }: ParsedQuestion, facts: F): F =>
  goal === undefined ? facts : { ...facts, goals: { goal: [goal], own: [] } }

/** The names of the objects that were found, by level. */
async function namesOfFound({ database }: Ground, org_id: number, { levels }: FoundLevels, question: ParsedQuestion) {
  const first = question.within?.length ?? 0
  return Promise.all(
    levels.map(async ({ groups }, at): Promise<ObjectNames | undefined> => {
      const dimension = question.levels[first + at]?.dimension
      if (dimension === undefined || !isObjectDimension(dimension)) return undefined
      const ids = new Set(
        [...groups.values()].flat().flatMap(({ value, isSpend }) => (value === null || isSpend ? [] : [String(value)])),
      )
      return objectNames(database.reads, org_id, dimension satisfies ObjectDimension, [...ids])
    }),
  )
}

const comparedMeasures = (
  { sums, before }: ComparedSums,
  question: ParsedQuestion,
): ExploreMeasures & { before?: ExploreMeasures } => ({
  ...measuresOfSums(sums, question),
  ...(before && { before: measuresOfSums(before, question) }),
})

function answerRows(
  { levels }: FoundLevels,
  question: ParsedQuestion,
  names: readonly (ObjectNames | undefined)[],
): ExploreRow[] {
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
        : { key: wireKeyOf(dimension, value), label: labelOf(dimension, value, names[at]) }
      return { ...named, is_other: false, ...comparedMeasures(figures, question), ...(children && { children }) }
    }
    const other = rest && {
      key: null,
      label: OTHER,
      is_other: true,
      count_of_other: rest.keys,
      ...comparedMeasures(rest, question),
    }
    return [...groups.map(rowOf), ...(other ? [other] : [])]
  }
  return below(ROOT, 0) ?? []
}
