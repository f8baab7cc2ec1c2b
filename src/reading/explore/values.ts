/** The values that a filter may name: objects by name, texts that clicks came with, and the fixed words of other dimensions. */
import type pg from 'pg'
import type { ExploreValues } from '../../contract/explore-answer.ts'
import {
  type ExploreDimension,
  isObjectDimension,
  isTextDimension,
  WAYS,
  YES_OR_NO,
  isTimeDimension,
} from '../../contract/explore-dimensions.ts'
import { toWireId } from '../../contract/ids.ts'
import { LADDER } from '../../contract/ladder.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Window } from '../../contract/window.ts'
import { two } from './columns.ts'
import type { Ask } from './engine.ts'
import { labelOf, objectsNamed, wordsOfKey } from './labels.ts'
import { type ParsedQuestion, exploreWindow } from './question.ts'
import { type LocalFacts, selectFacts } from './scan.ts'

/** A list to pick from is no longer than this. */
const MOST_SHOWN = 50

type ValuesQuery = {
  readonly dimension: ExploreDimension
  readonly search?: string | undefined
  readonly date_from?: string | undefined
  readonly date_to?: string | undefined
}
type Scan = <T>(window: Window, question: (ask: Ask, facts: LocalFacts) => Promise<T>) => Promise<T>

/** The values of a dimension, texts by their clicks in the window. For texts it makes the refusals of windows. */
export async function listValues(
  reads: Pick<pg.Pool, 'query'>,
  org_id: number,
  { dimension, search = '', ...dates }: ValuesQuery,
  scan: Scan,
): Promise<ExploreValues> {
  if (isObjectDimension(dimension)) {
    const objects = await objectsNamed(reads, org_id, dimension, search, MOST_SHOWN)
    return { values: objects.map(({ id, name }) => ({ key: toWireId(id), label: name, clicks: null })) }
  }
  if (!isTextDimension(dimension)) return { values: wordsOf(dimension, search) }
  const window = exploreWindow(dates)
  const question = questionFor(dimension, search, window)
  const rows = await scan(window, (ask, facts) => {
    const levels = [{ dimension, at: 0 }]
    const numbered = facts.numbered(dimension)
    return ask(`select ${numbered === undefined ? 'k1' : 'word'} as k, clicks from (
        select k1, sum(sign) as clicks from (${selectFacts(facts, question, window, { levels, columns: ['sign'] })}) group by all having sum(sign) <> 0
      ) ${numbered === undefined ? '' : `join ${numbered.words} on number = k1`} order by 2 desc, 1 limit ${MOST_SHOWN}`)
  })
  return {
    values: rows.map(row => ({
      key: String(row['k']),
      label: labelOf(dimension, row['k'], undefined),
      clicks: Number(row['clicks']),
    })),
  }
}

function questionFor(dimension: ExploreDimension, search: string, window: Window): ParsedQuestion {
  const filled = { dimension, op: 'is_filled', values: [] } as const
  const named = { dimension, op: 'contains', values: [search] } as const
  const filters = search === '' ? [filled] : [named]
  return {
    window,
    before: undefined,
    time_zone: 'UTC',
    levels: [],
    filters,
    measures: ['clicks'],
    currency: undefined,
    goal: undefined,
    count_pending: false,
    within: undefined,
    after: 0,
    isApart: false,
  }
}

const WORDS: Readonly<Record<string, readonly string[]>> = {
  is_new: YES_OR_NO,
  is_left_out: YES_OR_NO,
  status: LADDER,
  way: WAYS,
  hour: Array.from({ length: 24 }, (_, hour) => two(hour)),
  weekday: Array.from({ length: 7 }, (_, day) => String(day + 1)),
}

function wordsOf(dimension: ExploreDimension, search: string): ExploreValues['values'] {
  const words =
    WORDS[dimension] ??
    (isTimeDimension(dimension)
      ? refuse('invalid_question', {
          error: `dimension: ${dimension} has no list of values`,
          hint: 'Name the value itself.',
        })
      : [])
  return words
    .map(key => ({
      key,
      label: wordsOfKey(dimension, key),
      clicks: null,
    }))
    .filter(({ key, label }) => `${key} ${label}`.toLowerCase().includes(search.toLowerCase()))
}
