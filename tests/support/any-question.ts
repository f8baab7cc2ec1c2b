// Random questions of Explore, for properties that hold for every question.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { COMPARISONS, type ExploreFilter, type ExploreHaving, ExploreQuestion } from '../../src/contract/explore.ts'
import type { ExploreAnswer } from '../../src/contract/explore-answer.ts'
import { type Measure, MEASURES } from '../../src/contract/explore-measures.ts'
import { EXPLORE_DIMENSIONS, type ExploreDimension, operatorsOf } from '../../src/contract/explore-dimensions.ts'
import type { Database } from '../../src/ground/db/connect.ts'
import { COUNTED_EVENTS, COUNTED_REVENUES } from './explore-measures.ts'
import { asRecounted, recountExplore } from './explore-recount.ts'
import type { TestHouse } from './house.ts'

/** Zones with half hours, with clocks that change in March, and without changes. */
const ZONES = ['UTC', 'Europe/Kyiv', 'Asia/Kolkata', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia']

/** A question; with `opened`, its first row is also opened, after so many rows. */
export type AnyQuestion = { readonly question: ExploreQuestion; readonly opened: number | undefined }
/** The window of the clicks, and the keys that filters name. */
type Ground = {
  readonly from: number
  readonly to: number
  readonly keysOf: (dimension: ExploreDimension) => fc.Arbitrary<string>
}

function anyFilter(keysOf: Ground['keysOf']): fc.Arbitrary<ExploreFilter> {
  return fc.constantFrom(...EXPLORE_DIMENSIONS).chain(dimension =>
    fc.constantFrom(...operatorsOf(dimension)).chain((op): fc.Arbitrary<ExploreFilter> => {
      if (op === 'is_empty' || op === 'is_filled') return fc.constant({ dimension, op })
      const most = op === 'is' || op === 'is_not' ? 1 : 3
      return fc.array(keysOf(dimension), { minLength: 1, maxLength: most }).map(values => ({ dimension, op, values }))
    }),
  )
}

const anyHaving: fc.Arbitrary<ExploreHaving[]> = fc.array(
  fc.record({
    measure: fc.constantFrom<Measure>(...MEASURES, ...COUNTED_EVENTS, ...COUNTED_REVENUES),
    op: fc.constantFrom(...COMPARISONS),
    value: fc.constantFrom('0', '1', '2', '3', '-0.2', '0.25', '0.5', '12.5', '-1', '1000000.000001'),
  }),
  { minLength: 1, maxLength: 2 },
)

export function anyQuestion({ from: first, to: last, keysOf }: Ground): fc.Arbitrary<AnyQuestion> {
  return fc
    .record({
      // Rows of tags overlap, and are recounted by a test of their own.
      dimensions: fc.uniqueArray(fc.constantFrom(...EXPLORE_DIMENSIONS.filter(one => one !== 'tag')), {
        minLength: 1,
        maxLength: 4,
      }),
      tops: fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 4, maxLength: 4 }),
      filters: fc.oneof(
        { weight: 2, arbitrary: fc.constant<ExploreFilter[]>([]) },
        { weight: 3, arbitrary: fc.array(anyFilter(keysOf), { maxLength: 3 }) },
      ),
      time_zone: fc.constantFrom(...ZONES),
      from: fc.oneof(fc.constant(first), fc.integer({ min: first, max: last })),
      length: fc.oneof(fc.constant(last - first), fc.integer({ min: 0, max: last - first })),
      by: fc.constantFrom<Measure | 'key'>('key', ...MEASURES, ...COUNTED_EVENTS, ...COUNTED_REVENUES),
      having: fc.option(anyHaving, { nil: undefined }),
      havingAbove: fc.option(anyHaving, { nil: undefined, freq: 2 }),
      descending: fc.boolean(),
      isCompared: fc.boolean(),
      count_pending: fc.boolean(),
      opened: fc.option(fc.nat(3), { nil: undefined }),
    })
    .map(
      ({
        dimensions,
        tops,
        filters,
        time_zone,
        from,
        length,
        by,
        having,
        havingAbove,
        descending,
        isCompared,
        count_pending,
        opened,
      }) => ({
        question: {
          date_from: new Date(from).toISOString(),
          date_to: new Date(from + length).toISOString(),
          time_zone,
          levels: dimensions.map((dimension, at) => ({
            dimension,
            top: tops[at] ?? 1,
            ...(at === 0 && havingAbove && { having: havingAbove }),
          })),
          filters,
          ...(having && { having }),
          sort: { by, descending },
          measures: [...MEASURES, ...COUNTED_EVENTS, ...COUNTED_REVENUES],
          count_pending,
          ...(isCompared && !dimensions.includes('day') && { compare: 'before' as const }),
        },
        opened,
      }),
    )
}

export type Ask = (question: ExploreQuestion) => Promise<ExploreAnswer>

export function askerOf(house: Pick<TestHouse, 'call'>, cookie: string): Ask {
  return async question => {
    const { statusCode, body } = await house.call('POST', '/api/explore', { cookie, body: question })
    assert.equal(statusCode, 200, `${body} ${JSON.stringify(question)}`)
    return JSON.parse(body) as ExploreAnswer
  }
}

/** Compares the answers to a question, and to its opened row if any, with recounts of the clicks. */
export async function assertAnswered(
  ask: Ask,
  database: Pick<Database, 'worker'>,
  org_id: number,
  { question, opened }: AnyQuestion,
): Promise<void> {
  const { rows } = await assertRecounted(ask, database, org_id, question)
  const [first] = rows
  if (opened === undefined || first === undefined) return
  const within = question.levels.length > 1 ? [first.key] : []
  await assertRecounted(ask, database, org_id, { ...question, within, after: opened })
}

/** Clicks from the journal may arrive between the recount and the answer; then both are repeated. */
const MOST_TRIES = 50

/** Compares an answer with a recount and returns it. No day may be incomplete. */
export async function assertRecounted(
  ask: Ask,
  { worker }: Pick<Database, 'worker'>,
  org_id: number,
  question: ExploreQuestion,
): Promise<ExploreAnswer> {
  const recounted = () => recountExplore(worker, org_id, ExploreQuestion.parse(question))
  for (let tries = 1, before = await recounted(); ; tries += 1) {
    const answer = await ask(question)
    const after = await recounted()
    if (tries === MOST_TRIES || JSON.stringify(before) === JSON.stringify(after)) {
      assert.deepEqual(asRecounted(answer), after, JSON.stringify(question))
      assert.deepEqual(answer.incomplete_days, [])
      return answer
    }
    before = after
  }
}
